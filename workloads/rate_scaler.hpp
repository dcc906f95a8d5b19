#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace inferometer {

/// Divides times by a factor, in integers: the result is the picosecond nearest to the exact quotient by the
/// stored value of the factor (halves up), so order and equality of times are kept and every machine agrees.
class RateScaler {
 public:
  /// Precondition: factor > 0 and finite.
  explicit RateScaler(double factor);

  /// Whether divide() gives back every time as it is.
  [[nodiscard]] bool is_one() const { return mantissa_ == 1 && exponent_ == 0; }

  /// Precondition: time >= 0. Empty when the result is over 106 days. O(1).
  [[nodiscard]] std::optional<Duration> divide(Duration time) const;

 private:
  // factor = mantissa_ * 2^exponent_, mantissa_ odd
  std::uint64_t mantissa_ = 1;
  int exponent_ = 0;
};

}  // namespace inferometer
