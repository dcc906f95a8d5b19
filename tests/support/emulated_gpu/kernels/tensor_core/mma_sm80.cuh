#pragma once

// Stands in for kernels/tensor_core/mma_sm80.cuh: the same functions, as the PTX ISA describes the
// instructions behind them, for the threads of a testing::Block. Written from the ISA, not from
// fragments.hpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "tests/support/emulated_gpu/block.hpp"

#define __device__
#define __forceinline__ inline

namespace inferometer::kernels {

using testing::Block;

/// What CUDA C++ has by itself.
struct EmulatedIndex {
  struct {
    operator unsigned() const { return static_cast<unsigned>(Block::current().thread()); }  // NOLINT
  } x;
};
inline constexpr EmulatedIndex threadIdx;

constexpr int kWarpThreads = 32;
// Meetings by key: warps from 0 on, warpgroups, the block.
constexpr int kFirstWarpgroupMeeting = 1000;
constexpr int kWholeBlockMeeting = 2000;

using std::min;

inline float __fdividef(float above, float below) {
  return above / below;
}

inline int this_lane() {
  return Block::current().thread() % kWarpThreads;
}

/// The lanes of a warp meet.
template <class Brings, class Act>
void meet_warp(Brings& brings, Act act) {
  Block::current().meet(
      Block::current().thread() / kWarpThreads, kWarpThreads, this_lane(), &brings,
      [&](const std::vector<void*>& all) {
        act([&](int lane) -> Brings& { return *static_cast<Brings*>(all[static_cast<std::size_t>(lane)]); });
      });
}

template <class Value>
Value exchange_lanes(Value value, int from) {
  struct Share {
    Value own;
    Value received;
    int from;
  } share{value, value, from};
  meet_warp(share, [](auto of_lane) {
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      of_lane(lane).received = of_lane(of_lane(lane).from).own;
    }
  });
  return share.received;
}

template <class Value>
Value __shfl_xor_sync(unsigned /*mask*/, Value value, int distance) {
  return exchange_lanes(value, this_lane() ^ distance);
}

template <class Value>
Value __shfl_sync(unsigned /*mask*/, Value value, int lane) {
  return exchange_lanes(value, lane);
}

inline void __syncthreads() {
  Block::current().meet(kWholeBlockMeeting, Block::current().threads(), Block::current().thread(), nullptr,
                        [](const std::vector<void*>&) {});
}

/// Values of the 16-bit patterns.
template <ElementType kType>
float value_of_bits(std::uint32_t bits) {
  static const std::vector<float> values = [] {
    std::vector<float> all;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
      all.push_back(static_cast<float>(value_of(pattern, kType)));
    }
    return all;
  }();
  return values[bits & 0xFFFFu];
}

inline std::uint32_t shared_address(const void* shared) {
  return Block::current().shared_address(shared);
}

inline std::uint32_t made_here(std::uint32_t value) {
  return value;
}

/// Copies of each thread that it has not waited for.
struct PendingCopy {
  std::uint32_t shared;
  const void* source;
};
inline std::vector<std::vector<PendingCopy>> pending_copies;

inline void copy_async(std::uint32_t shared, const void* source) {
  Block& block = Block::current();
  const auto thread = static_cast<std::size_t>(block.thread());
  if (pending_copies.size() <= thread) {
    pending_copies.resize(thread + 1);
  }
  std::memset(block.shared(shared, 16), 0xFF, 16);
  pending_copies[thread].push_back({shared, source});
  if (block.timing().copies == testing::CopyTiming::at_once) {
    std::memcpy(block.shared(shared, 16), source, 16);
  }
}

inline void wait_copies() {
  Block& block = Block::current();
  const auto thread = static_cast<std::size_t>(block.thread());
  if (pending_copies.size() > thread) {
    for (const PendingCopy& copy : pending_copies[thread]) {
      std::memcpy(block.shared(copy.shared, 16), copy.source, 16);
    }
    pending_copies[thread].clear();
  }
}

inline void store_words(void* target, const std::uint32_t (&words)[4]) {
  if (reinterpret_cast<std::uintptr_t>(target) % 16 != 0) {
    throw std::logic_error("16 bytes are stored where no 16 bytes begin");
  }
  std::memcpy(target, words, 16);
}

inline void load_four_matrices(std::uint32_t (&registers)[4], std::uint32_t row, bool transposes) {
  struct Share {
    std::uint32_t* registers;
    std::uint32_t row;
  } share{registers, row};
  meet_warp(share, [&](auto of_lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      const auto element = [&](int at_row, int column) {
        std::uint16_t value = 0;
        const std::uint32_t address =
            of_lane(8 * matrix + at_row).row + static_cast<std::uint32_t>(2 * column);
        std::memcpy(&value, Block::current().shared(address, 2), 2);
        return static_cast<std::uint32_t>(value);
      };
      for (int lane = 0; lane < kWarpThreads; ++lane) {
        const int major = lane / 4;
        const int minor = 2 * (lane % 4);
        const std::uint32_t low = transposes ? element(minor, major) : element(major, minor);
        const std::uint32_t high = transposes ? element(minor + 1, major) : element(major, minor + 1);
        of_lane(lane).registers[matrix] = low | high << 16;
      }
    }
  });
}

inline void load_matrices(std::uint32_t (&registers)[4], std::uint32_t row) {
  load_four_matrices(registers, row, false);
}

inline void load_matrices_transposed(std::uint32_t (&registers)[4], std::uint32_t row) {
  load_four_matrices(registers, row, true);
}

/// Row and column of elements a0..a7, b0..b3 and c0..c3 of a lane: "Matrix Fragments for mma.m16n8k16 with
/// floating point type".
struct IsaPlace {
  int row;
  int column;
};
inline IsaPlace isa_a(int lane, int i) {
  return {lane / 4 + ((i < 2 || (i >= 4 && i < 6)) ? 0 : 8), lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
inline IsaPlace isa_b(int lane, int i) {
  return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
}
inline IsaPlace isa_c(int lane, int i) {
  return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

template <ElementType kType>
void multiply_add(float (&accumulators)[4], const std::uint32_t (&left)[4], std::uint32_t right_low,
                  std::uint32_t right_high) {
  struct Share {
    float* accumulators;
    const std::uint32_t* left;
    std::uint32_t right[2];
  } share{accumulators, left, {right_low, right_high}};
  meet_warp(share, [](auto of_lane) {
    float a[16][16] = {};
    float b[16][8] = {};
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      for (int i = 0; i < 8; ++i) {
        const IsaPlace place = isa_a(lane, i);
        a[place.row][place.column] = value_of_bits<kType>(of_lane(lane).left[i / 2] >> (16 * (i % 2)));
      }
      for (int i = 0; i < 4; ++i) {
        const IsaPlace place = isa_b(lane, i);
        b[place.row][place.column] = value_of_bits<kType>(of_lane(lane).right[i / 2] >> (16 * (i % 2)));
      }
    }
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const IsaPlace place = isa_c(lane, i);
        float sum = of_lane(lane).accumulators[i];
        for (int k = 0; k < 16; ++k) {
          sum += a[place.row][k] * b[k][place.column];
        }
        of_lane(lane).accumulators[i] = sum;
      }
    }
  });
}

template <ElementType kType>
std::uint32_t pack_pair(float low, float high) {
  return bits_of(low, kType) | bits_of(high, kType) << 16;
}

inline float fast_exp2(float x) {
  return std::exp2(x);
}

}  // namespace inferometer::kernels
