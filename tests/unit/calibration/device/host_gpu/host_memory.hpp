#pragma once

// Elements of buffers that lie in the host's memory and stand for the GPU's.

#include <cstdint>
#include <cstring>

#include "kernels/common/element_type.hpp"

namespace inferometer::testing {

inline double load(const void* buffer, std::int64_t index, kernels::ElementType type) {
  const int bytes = kernels::bytes_of(type);
  std::uint32_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(buffer) + index * bytes, static_cast<std::size_t>(bytes));
  return kernels::value_of(bits, type);
}

inline void store(void* buffer, std::int64_t index, kernels::ElementType type, double value) {
  const int bytes = kernels::bytes_of(type);
  const std::uint32_t bits = kernels::bits_of(value, type);
  std::memcpy(static_cast<char*>(buffer) + index * bytes, &bits, static_cast<std::size_t>(bytes));
}

}  // namespace inferometer::testing
