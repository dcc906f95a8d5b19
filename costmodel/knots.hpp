#pragma once

// Where prices by measured kernels are taken, to run straight between: twice to each doubling. Who uses it:
// prices of prefill attention and of the up-projection of latent attention.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace inferometer {

/// 1, 2, 3, 4, 6, 8, 12 ...: powers of two and the middle between them.
constexpr std::int64_t knot_value(std::size_t knot) {
  if (knot == 0) {
    return 1;
  }
  const std::int64_t power = std::int64_t{1} << ((knot + 1) / 2);
  return knot % 2 == 1 ? power : power + power / 2;
}

/// The knot at or below a number >= 1.
constexpr std::size_t knot_below(std::int64_t number) {
  const auto exponent = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(number)) - 1);
  if (exponent == 0) {
    return 0;
  }
  const std::size_t power = 2 * exponent - 1;
  return number >= knot_value(power + 1) ? power + 1 : power;
}

/// Where a number lies between the knot below it and the next. All distances are powers of two.
constexpr double share_beyond(std::int64_t number, std::size_t knot) {
  const auto halvings = static_cast<int>(knot < 2 ? 0 : (knot - 1) / 2);
  const std::uint64_t power = std::uint64_t{1} << halvings;
  return static_cast<double>(number - knot_value(knot)) / static_cast<double>(power);
}

}  // namespace inferometer
