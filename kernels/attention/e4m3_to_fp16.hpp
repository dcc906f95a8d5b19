#pragma once

// From e4m3 to fp16 by moving bits, on every GPU alike: exponent and fraction of e4m3 fit into those of fp16,
// whose bias is larger by 8. So each value comes out as 2^-8 of itself, exactly, subnormals included; the
// factor goes where the tensor's scale goes. The pattern of NaN, which no cache holds, comes out as a number.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// A value of e4m3 over what the functions below make of it.
inline constexpr float kE4m3OverFp16 = 256.0f;

/// Signs, and exponents with fractions, of two fp16 in a word.
inline constexpr std::uint32_t kFp16Signs = 0x80008000u;
inline constexpr std::uint32_t kFp16FromE4m3 = 0x3f803f80u;

/// Bytes 0 and 2 of four e4m3 as two fp16, byte 0 in the lower half.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t even_e4m3_as_fp16(std::uint32_t four) {
  return ((four << 8) & kFp16Signs) | ((four << 7) & kFp16FromE4m3);
}

/// Bytes 1 and 3.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t odd_e4m3_as_fp16(std::uint32_t four) {
  return (four & kFp16Signs) | ((four >> 1) & kFp16FromE4m3);
}

}  // namespace inferometer::kernels
