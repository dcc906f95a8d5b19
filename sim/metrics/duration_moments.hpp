#pragma once

// Count, sum, sum of squares and extremes of durations, in integers as they come: in constant memory, exact,
// and independent of the order.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/wide_sum.hpp"

namespace inferometer {

class DurationMoments {
 public:
  /// So many equal values. Precondition: value >= 0, count >= 1. O(1).
  void add(Duration value, std::int64_t count) {
    const std::int64_t ps = value.count();
    count_ += count;
    least_ = std::min(least_, ps);
    most_ = std::max(most_, ps);
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(ps, count, &product)) {
      sum_ += product;
      squares_.add(Int128{ps} * product);
    } else {
      sum_ += Int128{ps} * count;
      squares_.add(Int128{ps} * ps, count);
    }
  }

  /// `length` values first, first + difference, ..., each so many times. Precondition: none below 0, length
  /// and count >= 1. O(1), but O(length) when a value is over 70 s or there are 2^34 of them.
  void add_progression(Duration first, Duration difference, std::int64_t length, std::int64_t count);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// In picoseconds.
  [[nodiscard]] Int128 sum() const { return sum_; }

  /// Precondition of those that follow: count() > 0.
  [[nodiscard]] Duration least() const { return Duration(least_); }
  [[nodiscard]] Duration most() const { return Duration(most_); }
  /// Exact up to the rounding of the result.
  [[nodiscard]] double mean_ms() const;
  /// Of the population (divided by n). Squares of deviations are added exactly.
  [[nodiscard]] double standard_deviation_ms() const;

 private:
  std::int64_t count_ = 0;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ = 0;
  Int128 sum_ = 0;
  WideSum squares_;
};

}  // namespace inferometer
