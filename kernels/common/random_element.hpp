#pragma once

// Inputs of measurements: element i of the stream `seed` is a function of both, so that a GPU fills gigabytes
// in parallel and the host recomputes just the elements that a check needs.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// Uniform 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over seed and index.
INFEROMETER_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t mixed = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

/// One of the 255 multiples of 1/128 in [-127/128, 127/128], exact in every format of 8 significant bits or
/// more.
INFEROMETER_HOST_DEVICE constexpr float random_element(std::uint64_t seed, std::uint64_t index) {
  const int step = static_cast<int>(random_bits(seed, index) >> 40) % 255 - 127;
  return static_cast<float>(step) / 128.0f;
}

/// One of the 31 multiples of 1/16 in [-15/16, 15/16] with at most 4 significant bits: exact in e4m3 too.
INFEROMETER_HOST_DEVICE constexpr float random_small_element(std::uint64_t seed, std::uint64_t index) {
  const int step = static_cast<int>(random_bits(seed, index) >> 40) % 31 - 15;
  return static_cast<float>(step) / 16.0f;
}

}  // namespace inferometer::kernels
