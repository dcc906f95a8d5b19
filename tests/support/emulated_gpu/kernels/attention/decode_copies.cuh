#pragma once

// Stands in for kernels/attention/decode_copies.cuh: the same functions, as the PTX ISA describes the
// instructions behind them, for the threads of a testing::Block.

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

// ---- what CUDA C++ has by itself ----

inline void __syncwarp() {
  int nothing = 0;
  meet_warp(nothing, [](auto) {});
}

inline bool __any_sync(unsigned /*mask*/, bool holds) {
  struct Share {
    bool own;
    bool any;
  } share{holds, false};
  meet_warp(share, [](auto of_lane) {
    bool any = false;
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      any = any || of_lane(lane).own;
    }
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      of_lane(lane).any = any;
    }
  });
  return share.any;
}

inline float __uint_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// ---- copies ----

struct GroupedCopy {
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
using CopyGroups = std::vector<std::vector<GroupedCopy>>;

/// By thread; emptied by whoever starts a block.
inline std::map<int, CopyGroups> copy_groups;

inline CopyGroups& groups_of_this_thread() {
  CopyGroups& groups = copy_groups[Block::current().thread()];
  if (groups.empty()) {
    groups.emplace_back();
  }
  return groups;
}

inline void copy_or_clear(std::uint32_t shared, const void* source, int bytes) {
  const GroupedCopy copy{shared, source, bytes};
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
void wait_for_groups() {
  CopyGroups& groups = groups_of_this_thread();
  while (groups.size() > kPending + 1) {
    for (const GroupedCopy& copy : groups.front()) {
      copy.land();
    }
    groups.erase(groups.begin());
  }
}

}  // namespace inferometer::kernels
