#pragma once

// A multiset of durations with their statistics: exact ones, or with percentiles
// read off a histogram in constant memory. Made for the gaps between tokens:
// hundreds of millions of them, of which a decode step adds as many equal ones
// as it has sequences, and consecutive steps differ by the same amount as long
// as nothing joins or leaves. So it keeps arithmetic progressions: 8 or 16
// bytes for each change of the batch, whatever the number of tokens. Values that come one
// by one, such as latencies, take 8 bytes each. Who uses it: the recorder.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/chunked_column.hpp"
#include "sim/metrics/duration_histogram.hpp"
#include "sim/metrics/duration_moments.hpp"
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
  using Runs = ChunkedColumn<Run>;
  /// A run of one value below kLargest in half the space: most steps change the batch.
  class Repeated {
   public:
    static constexpr std::int64_t kLargest = std::int64_t{1} << 47;  // 140 s

    Repeated() = default;
    /// Precondition: run.length == 1 and 0 <= run.first < kLargest.
    explicit Repeated(const Run& run) : packed_(run.first << kCountBits | run.count) {}
    [[nodiscard]] Run run() const {
      return {packed_ >> kCountBits, 0, 1, static_cast<std::uint16_t>(packed_ & ((1 << kCountBits) - 1))};
    }

   private:
    static constexpr int kCountBits = 16;
    std::int64_t packed_ = 0;
  };
  static_assert(sizeof(Repeated) == 8);
  using Repetitions = ChunkedColumn<Repeated>;
  using Singles = ChunkedColumn<std::int64_t>;

  /// `sketch` keeps no values.
  explicit DurationDistribution(Percentiles percentiles = Percentiles::exact)
      : is_exact_(percentiles == Percentiles::exact) {}

  /// One value on its own, 8 bytes. Precondition: value >= 0. O(1).
  void add_single(Duration value) {
    moments_.add(value, 1);
    histogram_.add(value, 1);
    if (is_exact_) {
      singles_.push_back(value.count());
    }
  }

  /// So many equal values, 8 bytes (16 from 140 s on) unless they continue the progression of the last ones,
  /// which has 16. Precondition: value >= 0, count >= 1. O(count / 65,535).
  void add(Duration value, std::int64_t count = 1) {
    moments_.add(value, count);
    histogram_.add(value, count);
    if (is_exact_) {
      for (; count > kMostRepeats; count -= kMostRepeats) {
        add_to_runs(value.count(), kMostRepeats);
      }
      add_to_runs(value.count(), count);
    }
  }

  /// `length` values first, first + difference, ..., each so many times. Precondition: none below 0, length
  /// and count >= 1. O(length / 65,535 + buckets that it crosses); O(length) when a value is over 70 s.
  void add_progression(Duration first, Duration difference, std::int64_t length, std::int64_t count);

  /// What is kept of the values: nothing by a sketch.
  [[nodiscard]] const Runs& runs() const { return runs_; }
  [[nodiscard]] const Repetitions& repetitions() const { return repetitions_; }
  /// The run that the next value may continue; of length 0 before the first.
  [[nodiscard]] const Run& open_run() const { return open_; }
  /// Runs of any length.
  [[nodiscard]] std::size_t runs_kept() const {
    return runs_.size() + repetitions_.size() + (open_.length > 0 ? 1 : 0);
  }
  [[nodiscard]] const Singles& singles() const { return singles_; }

  /// Values in all, repetitions counted.
  [[nodiscard]] std::int64_t count() const { return moments_.count(); }
  /// Sum of all values in picoseconds.
  [[nodiscard]] Int128 sum() const { return moments_.sum(); }

  /// Values at the given places of the sorted values: exact, or by a sketch at most kSketchError of the value
  /// away from it. Precondition: ranks ascending, each at least 0 and below count(). O(kept) on average,
  /// whatever the number of values; O(kept * log range) at worst; O(1) by a sketch.
  [[nodiscard]] std::vector<std::int64_t> at_ranks(std::span<const std::int64_t> ranks) const;
  static constexpr double kSketchError = 1.0 / 512;
  /// The same as a sketch has it, whatever is kept. O(1).
  [[nodiscard]] std::vector<std::int64_t> near_ranks(std::span<const std::int64_t> ranks) const;

  /// Nothing when there are no values. Exact up to one rounding of each result, but for a sketch's
  /// percentiles: those are at most kSketchError of the exact ones away. O(at_ranks).
  [[nodiscard]] std::optional<DurationStatistics> statistics(PercentileRule rule) const;

 private:
  static constexpr std::int64_t kMostRepeats = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::int64_t kLongest = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::int64_t kSteepest = std::numeric_limits<std::int32_t>::max();

  void add_to_runs(std::int64_t value, std::int64_t count) {
    const std::int64_t difference = value - last_;
    last_ = value;
    if (extends_open_run(difference, count)) {
      open_.difference = static_cast<std::int32_t>(difference);
      ++open_.length;
    } else {
      close_run();
      open_ = {value, 0, 1, static_cast<std::uint16_t>(count)};
    }
  }
  [[nodiscard]] bool extends_open_run(std::int64_t difference, std::int64_t count) const {
    if (open_.count != count) {
      return false;
    }
    return open_.length == 1 ? std::clamp(difference, -kSteepest, kSteepest) == difference
                             : open_.difference == difference && open_.length < kLongest;
  }
  void close_run() {
    if (open_.length == 1 && open_.first < Repeated::kLargest) {
      repetitions_.push_back(Repeated(open_));
    } else if (open_.length > 0) {
      runs_.push_back(open_);
    }
  }
  void add_progression_to_runs(std::int64_t first, std::int64_t difference, std::int64_t length,
                               std::int64_t count);

  bool is_exact_;
  DurationMoments moments_;
  DurationHistogram histogram_;
  Runs runs_;
  Repetitions repetitions_;
  Singles singles_;
  Run open_;
  std::int64_t last_ = 0;  // the value added to runs last
};

}  // namespace inferometer
