#pragma once

#include <cstdint>

namespace inferometer {

/// n (n - 1) / 2, the sum of 0 to n - 1, for n up to 2^32. Beyond, it is some number: good for multiplying by
/// 0.
constexpr std::int64_t triangular(std::int64_t n) {
  const auto count = static_cast<std::uint64_t>(n);
  return static_cast<std::int64_t>(count * (count - 1) / 2);
}

}  // namespace inferometer
