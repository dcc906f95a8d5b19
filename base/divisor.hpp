#pragma once

#include <bit>
#include <cstdint>

#include "base/check.hpp"

namespace inferometer {

/// A number that many others are divided by. Powers of two, which block sizes mostly are, divide by a shift
/// instead of the slowest instruction of the processor. For numerators of at least 0.
class Divisor {
 public:
  /// Precondition: value >= 1.
  explicit Divisor(std::int64_t value)
      : value_(value), shift_(std::has_single_bit(bits(value)) ? std::countr_zero(bits(value)) : kNoShift) {
    INFEROMETER_CHECK(value >= 1, "nothing is divided by less than one");
  }

  [[nodiscard]] std::int64_t value() const { return value_; }
  [[nodiscard]] std::int64_t quotient(std::int64_t numerator) const {
    return shift_ == kNoShift ? numerator / value_ : numerator >> shift_;
  }
  [[nodiscard]] std::int64_t remainder(std::int64_t numerator) const {
    return shift_ == kNoShift ? numerator % value_ : numerator & (value_ - 1);
  }
  /// Rounded up.
  [[nodiscard]] std::int64_t ceiling(std::int64_t numerator) const {
    return quotient(numerator + value_ - 1);
  }

 private:
  static constexpr int kNoShift = -1;
  static std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

  std::int64_t value_;
  int shift_;
};

}  // namespace inferometer
