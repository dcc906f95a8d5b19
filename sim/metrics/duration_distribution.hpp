#pragma once

// A multiset of durations with exact statistics, made for the gaps between
// tokens: hundreds of millions of them, of which a decode step adds as many
// equal ones as it has sequences, and consecutive steps differ by the same
// amount as long as nothing joins or leaves. So it keeps arithmetic
// progressions instead of values: 16 bytes for each change of the batch,
// whatever the number of tokens. Who uses it: the recorder for gaps, the
// summary for everything that is counted by request.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/duration_statistics.hpp"

namespace inferometer {

class DurationDistribution {
 public:
  /// `length` values first, first + difference, ..., each of them `count`
  /// times.
  struct Run {
    std::int64_t first = 0;
    std::int32_t difference = 0;
    std::uint16_t length = 0;
    std::uint16_t count = 0;

    [[nodiscard]] std::int64_t last() const { return first + std::int64_t{difference} * (length - 1); }
    /// Values in all, repetitions counted.
    [[nodiscard]] std::int64_t terms() const { return std::int64_t{length} * count; }
  };
  static_assert(sizeof(Run) == 16);
  /// Grows without being copied, so that it never takes more than it holds.
  using Runs = std::deque<Run>;

  /// So many equal values. Precondition: value >= 0, count >= 1. O(1),
  /// amortised.
  void add(Duration value, std::int64_t count = 1) {
    for (; count > kMostRepeats; count -= kMostRepeats) {
      add_to_runs(value.count(), kMostRepeats);
    }
    add_to_runs(value.count(), count);
  }

  /// `length` values first, first + difference, ..., each so many times. Precondition: none below 0, length
  /// and count >= 1. O(length / 65,535).
  void add_progression(Duration first, Duration difference, std::int64_t length, std::int64_t count);

  [[nodiscard]] const Runs& runs() const { return runs_; }

  /// Values in all, repetitions counted. O(runs), like everything below.
  [[nodiscard]] std::int64_t count() const;
  /// Sum of all values in picoseconds.
  [[nodiscard]] Int128 sum() const;

  /// Nothing when there are no values. Exact up to one rounding of each result. O(runs) on average, whatever
  /// the number of values; O(runs * log range) at worst.
  [[nodiscard]] std::optional<DurationStatistics> statistics(PercentileRule rule) const;

 private:
  static constexpr std::int64_t kMostRepeats = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::int64_t kLongest = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::int64_t kSteepest = std::numeric_limits<std::int32_t>::max();

  void add_to_runs(std::int64_t value, std::int64_t count) {
    const std::int64_t difference = value - last_;
    last_ = value;
    if (extends_last_run(difference, count)) {
      Run& run = runs_.back();
      run.difference = static_cast<std::int32_t>(difference);
      ++run.length;
    } else {
      runs_.push_back({value, 0, 1, static_cast<std::uint16_t>(count)});
    }
  }
  [[nodiscard]] bool extends_last_run(std::int64_t difference, std::int64_t count) const {
    if (runs_.empty() || runs_.back().count != count) {
      return false;
    }
    const Run& run = runs_.back();
    return run.length == 1 ? std::clamp(difference, -kSteepest, kSteepest) == difference
                           : run.difference == difference && run.length < kLongest;
  }
  [[nodiscard]] double standard_deviation_ms(std::int64_t count, Int128 sum) const;

  Runs runs_;
  std::int64_t last_ = 0;  // the value added last
};

}  // namespace inferometer
