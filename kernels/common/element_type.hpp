#pragma once

// Number formats as bits. Buffers are handed over as raw pointers; this says what lies in them, and lets the
// host read and write it without CUDA's headers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

enum class ElementType { bf16, fp16, fp8_e4m3, fp32 };

INFEROMETER_HOST_DEVICE constexpr int bytes_of(ElementType type) {
  return type == ElementType::fp32 ? 4 : type == ElementType::fp8_e4m3 ? 1 : 2;
}

/// Layout of a floating-point format: sign, exponent, fraction. e4m3 as in the OCP 8-bit specification
/// (revision 1.0, 2023): no infinities, the all-ones pattern is NaN, largest value 448.
struct FloatLayout {
  int exponent_bits;
  int fraction_bits;
  int bias;
  bool has_infinity;
};

constexpr FloatLayout layout_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return {8, 7, 127, true};
    case ElementType::fp16:
      return {5, 10, 15, true};
    case ElementType::fp8_e4m3:
      return {4, 3, 7, false};
    case ElementType::fp32:
      break;
  }
  return {8, 23, 127, true};
}

/// The value of a bit pattern, exact.
inline double value_of(std::uint32_t bits, ElementType type) {
  const FloatLayout layout = layout_of(type);
  if (layout.exponent_bits == 8) {  // as in fp32, of which it is the upper part: quick
    return static_cast<double>(std::bit_cast<float>(bits << (23 - layout.fraction_bits)));
  }
  const std::uint32_t fraction = bits & ((1u << layout.fraction_bits) - 1);
  const std::uint32_t exponent = (bits >> layout.fraction_bits) & ((1u << layout.exponent_bits) - 1);
  const bool negative = ((bits >> (layout.fraction_bits + layout.exponent_bits)) & 1u) != 0;
  const std::uint32_t all_ones = (1u << layout.exponent_bits) - 1;
  const bool is_special =
      exponent == all_ones && (layout.has_infinity || fraction == (1u << layout.fraction_bits) - 1);
  double magnitude = 0;
  if (is_special) {
    magnitude = layout.has_infinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                                     : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - layout.bias - layout.fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1u << layout.fraction_bits),
                           static_cast<int>(exponent) - layout.bias - layout.fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

/// The nearest value's bit pattern, ties to even. Beyond the range: infinity, or the largest value where the
/// format has none. NaN stays NaN.
inline std::uint32_t bits_of(double value, ElementType type) {
  const FloatLayout layout = layout_of(type);
  const std::uint32_t sign = std::signbit(value) ? 1u << (layout.fraction_bits + layout.exponent_bits) : 0u;
  const std::uint32_t all_ones = ((1u << layout.exponent_bits) - 1) << layout.fraction_bits;
  if (std::isnan(value)) {
    return sign | all_ones | ((1u << layout.fraction_bits) - 1);
  }
  const std::uint32_t largest =
      layout.has_infinity ? all_ones - 1 : (all_ones | ((1u << layout.fraction_bits) - 1)) - 1;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) {
    return sign;  // zero has no exponent
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int lowest = 1 - layout.bias;
  const int step_exponent = (exponent - 1 < lowest ? lowest : exponent - 1) - layout.fraction_bits;
  const double steps = std::nearbyint(std::ldexp(magnitude, -step_exponent));
  const double rounded = std::ldexp(steps, step_exponent);
  if (!(rounded <= value_of(largest, type))) {
    return sign | (layout.has_infinity ? all_ones : largest);
  }
  // The number of steps continues the exponent field: a fraction that rounds up to 2 is the next
  // exponent's 1.
  const int field = step_exponent + layout.fraction_bits - lowest;
  const auto pattern =
      static_cast<std::int64_t>(steps) + (static_cast<std::int64_t>(field) << layout.fraction_bits);
  return sign | static_cast<std::uint32_t>(pattern);
}

}  // namespace inferometer::kernels
