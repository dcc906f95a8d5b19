#pragma once

// Stands in for kernels/attention/decode_ptx.cuh: the same functions, as the PTX ISA describes the
// instructions behind them, for the threads of a testing::Block. Written from the ISA, not from
// decode_tile.hpp.

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "tests/support/emulated_gpu/block.hpp"

#define __device__
#define __forceinline__ inline

namespace inferometer::kernels {

using testing::Block;

// ---- what CUDA C++ has by itself ----

constexpr int kWarpThreads = 32;
// Meetings by key: warps from 0 on, and the block.
constexpr int kWholeBlockMeeting = 2000;

inline int this_lane() {
  return Block::current().thread() % kWarpThreads;
}

/// The lanes of a warp meet; the last to come acts on what each brought.
template <class Brings, class Act>
void meet_warp(Brings& brings, Act act) {
  Block::current().meet(
      Block::current().thread() / kWarpThreads, kWarpThreads, this_lane(), &brings,
      [&](const std::vector<void*>& all) {
        act([&](int lane) -> Brings& { return *static_cast<Brings*>(all[static_cast<std::size_t>(lane)]); });
      });
}

inline void __syncwarp() {
  int nothing = 0;
  meet_warp(nothing, [](auto) {});
}

inline void __syncthreads() {
  Block& block = Block::current();
  block.meet(kWholeBlockMeeting, block.threads(), block.thread(), nullptr, [](const std::vector<void*>&) {});
}

template <class Value>
Value __shfl_sync(unsigned /*mask*/, Value value, int from) {
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
Value __shfl_xor_sync(unsigned mask, Value value, int distance) {
  return __shfl_sync(mask, value, this_lane() ^ distance);
}

inline bool __any_sync(unsigned /*mask*/, bool holds) {
  bool any = holds;
  meet_warp(any, [](auto of_lane) {
    bool all = false;
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      all = all || of_lane(lane);
    }
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      of_lane(lane) = all;
    }
  });
  return any;
}

// ---- copies ----

struct PendingCopy {
  std::uint32_t shared;
  const void* source;
  int bytes;

  void land() const {
    unsigned char* target = Block::current().shared(shared, 16);
    std::memset(target, 0, 16);
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
  }
};

/// Groups of copies of one thread that it has not waited for; the last is open.
using PendingGroups = std::vector<std::vector<PendingCopy>>;

/// By thread; emptied by whoever starts a block.
inline std::map<int, PendingGroups> pending_groups;

inline PendingGroups& groups_of_this_thread() {
  PendingGroups& groups = pending_groups[Block::current().thread()];
  if (groups.empty()) {
    groups.emplace_back();
  }
  return groups;
}

inline std::uint32_t shared_address(const void* shared) {
  return Block::current().shared_address(shared);
}

inline void copy_or_clear(std::uint32_t shared, const void* source, int bytes) {
  const PendingCopy copy{shared, source, bytes};
  if (reinterpret_cast<std::uintptr_t>(source) % 16 != 0 || shared % 16 != 0 || (bytes != 0 && bytes != 16)) {
    throw std::logic_error("a copy that is not of 16 bytes at a multiple of 16");
  }
  if (Block::current().timing().late_copies) {
    std::memset(Block::current().shared(shared, 16), 0xFF, 16);
    groups_of_this_thread().back().push_back(copy);
  } else {
    copy.land();
  }
}

inline void close_copy_group() {
  groups_of_this_thread().emplace_back();
}

template <int kPending>
void wait_for_copies() {
  PendingGroups& groups = groups_of_this_thread();
  while (groups.size() > kPending + 1) {
    for (const PendingCopy& copy : groups.front()) {
      copy.land();
    }
    groups.erase(groups.begin());
  }
}

// ---- matrices ----

inline void load_four_matrices(std::uint32_t (&registers)[4], std::uint32_t row, bool transposes) {
  struct Share {
    std::uint32_t* registers;
    std::uint32_t row;
  } share{registers, row};
  meet_warp(share, [&](auto of_lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      const auto unit = [&](int at_row, int column) {
        std::uint16_t bits = 0;
        const std::uint32_t address =
            of_lane(8 * matrix + at_row).row + static_cast<std::uint32_t>(2 * column);
        std::memcpy(&bits, Block::current().shared(address, 2), 2);
        return static_cast<std::uint32_t>(bits);
      };
      for (int lane = 0; lane < kWarpThreads; ++lane) {
        const int major = lane / 4;
        const int minor = 2 * (lane % 4);
        of_lane(lane).registers[matrix] = transposes ? unit(minor, major) | unit(minor + 1, major) << 16
                                                     : unit(major, minor) | unit(major, minor + 1) << 16;
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

/// "Matrix Fragments for mma.m16n8k16 with floating point type": a0..a7, b0..b3, c0..c3 of each lane.
template <ElementType kType>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct Share {
    float* c;
    const std::uint32_t* a;
    std::uint32_t b[2];
  } share{c, a, {b0, b1}};
  meet_warp(share, [](auto of_lane) {
    std::array<std::array<float, 16>, 16> left{};
    std::array<std::array<float, 8>, 16> right{};
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      const auto group = static_cast<std::size_t>(lane / 4);
      const auto place = static_cast<std::size_t>(lane % 4);
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
        left[row][place * 2 + (i & 1) + (i >= 4 ? 8 : 0)] =
            value_of_bits<kType>(of_lane(lane).a[i / 2] >> (16 * (i % 2)));
      }
      for (std::size_t i = 0; i < 4; ++i) {
        right[place * 2 + (i & 1) + (i >= 2 ? 8 : 0)][group] =
            value_of_bits<kType>(of_lane(lane).b[i / 2] >> (16 * (i % 2)));
      }
    }
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        const auto row = static_cast<std::size_t>(lane / 4) + (i < 2 ? 0 : 8);
        const auto column = static_cast<std::size_t>(lane % 4 * 2) + (i & 1);
        float sum = of_lane(lane).c[i];
        for (std::size_t k = 0; k < 16; ++k) {
          sum += left[row][k] * right[k][column];
        }
        of_lane(lane).c[i] = sum;
      }
    }
  });
}

template <ElementType kType>
std::uint32_t pack_pair(float low, float high) {
  return bits_of(static_cast<double>(low), kType) | bits_of(static_cast<double>(high), kType) << 16;
}

inline float float_of_bf16(std::uint32_t bits) {
  return value_of_bits<ElementType::bf16>(bits);
}

}  // namespace inferometer::kernels
