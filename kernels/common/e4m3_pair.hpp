#pragma once

// e4m3 to fp16 by moving bits, several times cheaper than a conversion instruction each: both have sign,
// exponent, fraction in this order, so that seven bits shifted into place are 2^-8 times the value (biases 7
// and 15), subnormal numbers included. NaN is not kept: it becomes 480 / 256.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// What an e4m3 pattern is worth more than its bits read as fp16.
inline constexpr float kE4m3OverFp16 = 256;

/// Two numbers of fp16, the first in the low half.
struct Fp16Pairs {
  std::uint32_t even;  ///< bytes 0 and 2
  std::uint32_t odd;   ///< bytes 1 and 3
};

/// Four e4m3 of one register as two pairs of fp16, each 1 / kE4m3OverFp16 of its value.
INFEROMETER_HOST_DEVICE constexpr Fp16Pairs fp16_of_e4m3(std::uint32_t four) {
  constexpr std::uint32_t kSigns = 0x80008000u;
  constexpr std::uint32_t kMagnitudes = 0x3f803f80u;
  const std::uint32_t shifted = four << 8;
  return {(shifted & kSigns) | ((shifted >> 1) & kMagnitudes), (four & kSigns) | ((four >> 1) & kMagnitudes)};
}

}  // namespace inferometer::kernels
