#pragma once

// Stands in for kernels/tensor_core/hopper.cuh: the same functions, as the PTX ISA describes the instructions
// behind them, for the threads of a testing::Block.

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>

#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

/// An array (rows, heads, columns) of 16-bit elements and the rows of a box, 64 columns wide: what
/// make_panel_map() tells the driver.
struct TensorMap {
  const std::uint16_t* array = nullptr;
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  int box_rows = 0;
};

struct EmulatedBarrier {
  int arrivals = 0;  ///< of each phase
  int missing = 0;   ///< arrivals
  std::int64_t missing_bytes = 0;
  int phase = 0;

  void check() {
    if (missing < 0) {
      throw std::logic_error("more arrivals at a barrier than it counts");
    }
    if (missing == 0 && missing_bytes == 0) {
      ++phase;
      missing = arrivals;
    }
  }
};

/// By shared address; emptied by whoever starts a block.
inline std::map<std::uint32_t, EmulatedBarrier> emulated_barriers;

inline EmulatedBarrier& barrier_at(std::uint32_t address) {
  const auto found = emulated_barriers.find(address);
  if (found == emulated_barriers.end()) {
    throw std::logic_error("a barrier that nobody initialised");
  }
  return found->second;
}

inline void init_barrier(std::uint32_t barrier, int arrivals) {
  Block::current().shared(barrier, 8);
  emulated_barriers[barrier] = {arrivals, arrivals, 0, 0};
}

inline void publish_barriers() {
}

inline void arrive(std::uint32_t barrier) {
  EmulatedBarrier& at = barrier_at(barrier);
  --at.missing;
  at.check();
}

inline void arrive_expecting(std::uint32_t barrier, int bytes) {
  EmulatedBarrier& at = barrier_at(barrier);
  at.missing_bytes += bytes;
  --at.missing;
  at.check();
}

inline void wait_phase(std::uint32_t barrier, int parity) {
  Block::current().wait_until([&] { return barrier_at(barrier).phase % 2 != parity; });
}

/// The 128-byte swizzle of the copy engine and of wgmma, an exchange of address bits 4-6 by bits 7-9.
inline std::uint32_t isa_swizzle(std::uint32_t address) {
  return address ^ (((address >> 7) & 7u) << 4);
}

inline void copy_box(std::uint32_t shared, const TensorMap& map, std::uint32_t barrier, int x, int y, int z) {
  constexpr int kBoxColumns = 64;
  Block& block = Block::current();
  const auto each_element = [shared, map, &block](auto act) {
    for (int row = 0; row < map.box_rows; ++row) {
      for (int column = 0; column < kBoxColumns; ++column) {
        const std::uint32_t at = shared + static_cast<std::uint32_t>(2 * (row * kBoxColumns + column));
        act(block.shared(isa_swizzle(at), 2), row, column);
      }
    }
  };
  each_element([](unsigned char* place, int, int) { std::memset(place, 0xFF, 2); });
  const auto copy = [=] {
    each_element([&](unsigned char* place, int row, int column) {
      const std::int64_t array_row = z + row;
      const bool exists = 0 <= array_row && array_row < map.rows && y < map.heads && x + column < map.columns;
      const std::uint16_t element =
          exists ? map.array[(array_row * map.heads + y) * map.columns + x + column] : std::uint16_t{0};
      std::memcpy(place, &element, 2);
    });
    EmulatedBarrier& at = barrier_at(barrier);
    at.missing_bytes -= 2 * kBoxColumns * map.box_rows;
    at.check();
  };
  if (block.timing().copies == testing::CopyTiming::at_once) {
    copy();
  } else {
    block.do_late(copy);
  }
}

inline void sync_named(int id, int threads) {
  // A round counts arrivals of warps, which arrive as one.
  const std::uint64_t round = Block::current().arrive_at(id, threads);
  Block::current().wait_until([&] { return Block::current().rounds_of(id) != round; });
}

inline void arrive_named(int id, int threads) {
  Block::current().arrive_at(id, threads);
}

template <int kRegisters>
void give_registers_back() {
}

template <int kRegisters>
void take_registers() {
}

}  // namespace inferometer::kernels
