#pragma once

// Contents of device buffers before a measurement or a check, and a look for NaN after it. Who uses it: the
// tests of kernels, and the device of calibration. Buffers are pointers to device memory, 16-byte aligned
// (whatever cudaMalloc returns is); counts are of elements, any count >= 0.

#include <cstdint>

#include "kernels/common/element_type.hpp"
#include "kernels/common/kernel_status.hpp"
#include "kernels/common/random_element.hpp"

namespace inferometer::kernels {

/// Which random numbers: element i is `factor` times random_element(seed, i), or random_small_element where
/// e4m3 shall hold it exactly, rounded to nearest even. Factors are powers of two: exact while in range.
struct RandomFill {
  ElementType type = ElementType::bf16;
  std::uint64_t seed = 0;
  float factor = 1;
  bool small = false;  ///< random_small_element
};

/// Element `index` of such a buffer, as the host sees it.
inline double filled_element(const RandomFill& fill, std::uint64_t index) {
  const float element =
      fill.small ? random_small_element(fill.seed, index) : random_element(fill.seed, index);
  return value_of(bits_of(static_cast<double>(fill.factor * element), fill.type), fill.type);
}

LaunchResult fill_random(void* buffer, std::int64_t count, const RandomFill& fill, Stream stream);

/// All bytes 0xFF: NaN in every ElementType, -1 as integer. What a kernel leaves out shows.
LaunchResult fill_poison(void* buffer, std::int64_t bytes, Stream stream);

/// first, first + step, first + 2 step, ...: a constant with step 0.
LaunchResult fill_int32(std::int32_t* buffer, std::int64_t count, std::int32_t first, std::int32_t step,
                        Stream stream);

/// permuted(seed, i, count) of kernels/common/permutation.hpp: a page table of `count` blocks in random
/// order.
LaunchResult fill_permutation(std::int32_t* buffer, std::int64_t count, std::uint64_t seed, Stream stream);

/// Numbers that are none.
struct NonfiniteCounts {
  unsigned long long nans;
  unsigned long long infinities;
};

/// Adds what it finds in the buffer to *counts, which lies in device memory; the caller sets it to 0 before.
LaunchResult count_nonfinite(const void* buffer, std::int64_t count, ElementType type,
                             NonfiniteCounts* counts, Stream stream);

}  // namespace inferometer::kernels
