#pragma once

// Inputs of a call, as the GPU fills them and as the host knows them. Who uses it: the runners.

#include <cstdint>

#include "kernels/common/fill.hpp"

namespace inferometer {

/// Seeds of the inputs of one call differ by their number.
constexpr std::uint64_t seed_of_input(std::uint64_t seed, std::uint64_t input) {
  return kernels::random_bits(seed, input);
}

/// filled_element() of fill.hpp where nothing is rounded, which holds for all inputs here (8 significant bits
/// in bf16 and fp16, 4 of small elements in e4m3, times powers of two): ten times faster.
inline double exact_element(const kernels::RandomFill& fill, std::int64_t index) {
  const auto place = static_cast<std::uint64_t>(index);
  const float element = fill.small ? kernels::random_small_element(fill.seed, place)
                                   : kernels::random_element(fill.seed, place);
  return static_cast<double>(fill.factor * element);
}

/// Queries of attention: scores then lie 8 / 3 around 0 (elements have a mean square of 1 / 3), so that a few
/// keys have most of the weight, as in models. Softmax over equal scores would hide a key that was left out.
inline constexpr float kQueryFactor = 8;

/// Largest magnitude of an element with factor 1, for tolerances that are shares of it.
inline constexpr double kLargestElement = 127.0 / 128;
inline constexpr double kLargestSmallElement = 15.0 / 16;

}  // namespace inferometer
