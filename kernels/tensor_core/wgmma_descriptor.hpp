#pragma once

// How wgmma is told where a factor lies in shared memory: a 64-bit matrix descriptor (PTX ISA, "Asynchronous
// warpgroup-level matrix shared memory layout", "Matrix descriptor format"):
//
//   bits 0-13    start address / 16
//   bits 16-29   leading dimension byte offset / 16
//   bits 32-45   stride dimension byte offset / 16
//   bits 49-51   base offset: 0, for patterns that begin at a multiple of 1024 bytes
//   bits 62-63   swizzle: 1 is 128 bytes
//
// Tiles here are 16-bit elements in panels: 64 columns (128 bytes) wide, one row after the other, swizzled by
// 128 bytes, each panel at a multiple of 1024 bytes; the panels of a tile follow each other. That is what the
// copy engine writes for a box of 64 columns with CU_TENSOR_MAP_SWIZZLE_128B.
//
// Who uses it: Hopper kernels, and the tests that emulate them.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelRowBytes = 128;
inline constexpr int kSwizzlePatternBytes = 1024;  ///< 8 rows
inline constexpr int kUnusedLeadingBytes = 16;     ///< "assumed to be 1" where it is not used

/// The 18-bit byte counts of a descriptor without their 4 low bits.
INFEROMETER_HOST_DEVICE constexpr std::uint64_t descriptor_field(std::uint32_t bytes) {
  return (bytes & 0x3FFFFu) >> 4;
}

INFEROMETER_HOST_DEVICE constexpr std::uint64_t swizzled_descriptor(std::uint32_t address,
                                                                    std::uint32_t leading_bytes,
                                                                    std::uint32_t stride_bytes) {
  return descriptor_field(address) | descriptor_field(leading_bytes) << 16 |
         descriptor_field(stride_bytes) << 32 | std::uint64_t{1} << 62;
}

/// A factor whose rows (m or n) lie along k: 16 columns of k at `step`, all rows from `address` on. The
/// stride is from 8 rows to the next 8; the leading offset is not used. `panel_rows`: rows of a whole panel.
INFEROMETER_HOST_DEVICE constexpr std::uint64_t descriptor_of_rows(std::uint32_t address, int panel_rows,
                                                                   int step) {
  constexpr int kStepsOfPanel = kPanelColumns / 16;
  constexpr int kStepBytes = kPanelRowBytes / kStepsOfPanel;
  const int offset = step / kStepsOfPanel * panel_rows * kPanelRowBytes + step % kStepsOfPanel * kStepBytes;
  return swizzled_descriptor(address + static_cast<std::uint32_t>(offset), kUnusedLeadingBytes,
                             kSwizzlePatternBytes);
}

/// A right factor whose rows are k (read transposed): 16 rows at `step`, all columns. The stride is from 8
/// rows of k to the next 8, the leading offset from a panel of 64 columns to the next.
INFEROMETER_HOST_DEVICE constexpr std::uint64_t descriptor_of_columns(std::uint32_t address, int panel_rows,
                                                                      int step) {
  return swizzled_descriptor(address + static_cast<std::uint32_t>(step * 2 * kSwizzlePatternBytes),
                             static_cast<std::uint32_t>(panel_rows * kPanelRowBytes), kSwizzlePatternBytes);
}

}  // namespace inferometer::kernels
