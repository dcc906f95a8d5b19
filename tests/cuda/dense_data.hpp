#pragma once

// Elements of arrays on the GPU as the tests of dense kernels fill and read them.

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "kernels/common/fill.hpp"
#include "tests/cuda/gpu_array.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::test {

/// Says so when there is no GPU.
inline bool is_skipped() {
  const std::string reason = gpu_missing();
  if (!reason.empty()) {
    WARN("skipped: " << reason);
  }
  return !reason.empty();
}

/// Requires that the launch was queued and ran to its end.
inline void require_run(const kernels::LaunchResult& result) {
  INFO(result.reason);
  REQUIRE(result.ok());
  wait_for_gpu();
}

inline std::size_t bytes_for(std::int64_t count, kernels::ElementType type) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(kernels::bytes_of(type));
}

inline std::vector<double> elements_of(const GpuArray& array, kernels::ElementType type) {
  std::vector<unsigned char> bytes(array.bytes());
  array.copy_to(bytes.data());
  const auto size = static_cast<std::size_t>(kernels::bytes_of(type));
  std::vector<double> elements(bytes.size() / size);
  for (std::size_t index = 0; index < elements.size(); ++index) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &bytes[index * size], size);  // little-endian, like the GPU
    elements[index] = kernels::value_of(bits, type);
  }
  return elements;
}

template <class Integer>
std::vector<Integer> integers_of(const GpuArray& array) {
  std::vector<Integer> integers(array.bytes() / sizeof(Integer));
  array.copy_to(integers.data());
  return integers;
}

template <class Number>
GpuArray on_gpu(const std::vector<Number>& numbers) {
  return {numbers.data(), numbers.size() * sizeof(Number)};
}

/// Fills an array with random elements; what they are, in order.
inline std::vector<double> fill(const GpuArray& array, const kernels::RandomFill& contents) {
  const auto count =
      static_cast<std::int64_t>(array.bytes()) / std::int64_t{kernels::bytes_of(contents.type)};
  require_run(kernels::fill_random(array.data(), count, contents, nullptr));
  std::vector<double> elements(static_cast<std::size_t>(count));
  for (std::size_t index = 0; index < elements.size(); ++index) {
    elements[index] = kernels::filled_element(contents, index);
  }
  return elements;
}

/// Elements [start, start + count).
inline std::vector<double> part_of(const std::vector<double>& elements, std::int64_t start,
                                   std::int64_t count) {
  const auto first = elements.begin() + start;
  return {first, first + count};
}

}  // namespace inferometer::test
