#pragma once

// A multiset of durations with exact statistics, made for the gaps between tokens: hundreds of millions of
// them, of which a decode step adds as many equal ones as it has sequences, and consecutive steps differ by
// the same amount as long as nothing joins or leaves. So it keeps arithmetic progressions instead of values.
// Who uses it: the recorder for gaps, the summary for everything that is counted by request.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/duration_statistics.hpp"

namespace inferometer {

class DurationDistribution {
 public:
  /// `length` values first, first + difference, ..., each of them `count` times.
  struct Run {
    std::int64_t first = 0;
    std::int64_t difference = 0;
    std::int32_t length = 0;
    std::int32_t count = 0;

    [[nodiscard]] std::int64_t last() const { return first + difference * (length - 1); }
  };

  /// So many equal values. Precondition: value >= 0, 1 <= count < 2^31. O(1), amortised.
  void add(Duration value, std::int64_t count = 1) {
    const std::int64_t number = value.count();
    if (extends_last_run(number, count)) {
      Run& run = runs_.back();
      run.difference = number - last_;
      ++run.length;
    } else {
      runs_.push_back({number, 0, 1, static_cast<std::int32_t>(count)});
    }
    last_ = number;
  }

  void reserve(std::size_t runs) { runs_.reserve(runs); }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

  /// Values in all, repetitions counted. O(runs), like everything below.
  [[nodiscard]] std::int64_t count() const;
  /// Sum of all values in picoseconds.
  [[nodiscard]] Int128 sum() const;

  /// The values at these places (0 = smallest) of the sorted multiset. Precondition: ranks ascending, below
  /// count(). O(runs) on average, whatever the number of values; O(runs * log range) at worst.
  [[nodiscard]] std::vector<Duration> order_statistics(std::span<const std::int64_t> ranks) const;

  /// Nothing when there are no values. Exact up to one rounding of each result.
  [[nodiscard]] std::optional<DurationStatistics> statistics(PercentileRule rule) const;

 private:
  [[nodiscard]] bool extends_last_run(std::int64_t number, std::int64_t count) const {
    if (runs_.empty() || runs_.back().count != count) {
      return false;
    }
    const Run& run = runs_.back();
    return run.length == 1 || (run.difference == number - last_ && run.length < kLongest);
  }
  [[nodiscard]] double standard_deviation_ms(std::int64_t count, Int128 sum) const;

  static constexpr std::int32_t kLongest = 1 << 30;

  std::vector<Run> runs_;
  std::int64_t last_ = 0;  // the value added last
};

}  // namespace inferometer
