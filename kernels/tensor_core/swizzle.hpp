#pragma once

// Where a 16-byte chunk of a row lies in shared memory, so that 8 rows of one column of chunks fall into 8
// different groups of banks, as do 8 chunks of one row. Who uses it: kernels that fill such tiles by cp.async
// and read them by ldmatrix; the copy engine and wgmma do the same with 128-byte rows in hardware.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

inline constexpr int kChunkBytes = 16;

/// Byte offset of a chunk in a tile of rows of `chunks_of_row` chunks, a multiple of 8.
INFEROMETER_HOST_DEVICE constexpr int swizzled_offset(int row, int chunk, int chunks_of_row) {
  return (row * chunks_of_row + (chunk ^ (row % 8))) * kChunkBytes;
}

/// The offset of the chunk that lies `by` chunks on in the same row, from that of a chunk whose number has
/// none of the bits of `by`: one exclusive or, whatever the row.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t chunks_on(std::uint32_t offset, int by) {
  return offset ^ static_cast<std::uint32_t>(by * kChunkBytes);
}

/// CU_TENSOR_MAP_SWIZZLE_128B and the 128-byte swizzle of wgmma (PTX ISA, "Swizzling modes"): within 1024
/// bytes, which begin at a multiple of 1024, the chunk of a 128-byte row is exchanged by the row's number.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t swizzled_128(std::uint32_t address) {
  return address ^ ((address >> 3) & 0x70u);
}

}  // namespace inferometer::kernels
