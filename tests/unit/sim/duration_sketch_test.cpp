// Percentiles off a histogram: how far they are from the exact ones, whatever the values.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/metrics/duration_distribution.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST_CASE("buckets tile the durations, each at most 1/256 of its lowest value wide") {
  std::int64_t next = 0;
  bool is_tiled = true;
  bool is_narrow = true;
  for (std::size_t i = 0; i < DurationBucket::kCount; ++i) {
    const std::int64_t low = DurationBucket::lowest_of(i);
    const std::int64_t high = DurationBucket::highest_of(i);
    const std::int64_t middle = DurationBucket::middle_of(i);
    is_tiled = is_tiled && low == next && DurationBucket::index_of(low) == i &&
               DurationBucket::index_of(high) == i && DurationBucket::highest_like(low) == high;
    is_narrow = is_narrow && Int128{high - low} * 256 < low + 1 && low <= middle && middle <= high;
    next = i + 1 < DurationBucket::kCount ? high + 1 : high;
  }
  CHECK(is_tiled);
  CHECK(is_narrow);
  CHECK(next == kLargest);
}

TEST_CASE("a progression is counted as its terms are") {
  RandomStream random(3, "progressions");
  for (int round = 0; round < 200; ++round) {
    const auto length = 1 + static_cast<std::int64_t>(random.below(300));
    const auto first = static_cast<std::int64_t>(random.below(std::uint64_t{1} << (round % 60)));
    const auto last = static_cast<std::int64_t>(random.below(std::uint64_t{1} << (round % 60)));
    const std::int64_t difference = length == 1 ? 0 : (last - first) / (length - 1);
    DurationHistogram at_once, one_by_one;
    DurationMoments moments_at_once, moments_one_by_one;
    at_once.add_progression(Duration(first), Duration(difference), length, 3);
    moments_at_once.add_progression(Duration(first), Duration(difference), length, 3);
    for (std::int64_t i = 0; i < length; ++i) {
      one_by_one.add(Duration(first + difference * i), 3);
      moments_one_by_one.add(Duration(first + difference * i), 3);
    }
    CAPTURE(round, first, difference, length);
    REQUIRE(at_once.counts() == one_by_one.counts());
    REQUIRE(moments_at_once.count() == 3 * length);
    REQUIRE(bool(moments_at_once.sum() == moments_one_by_one.sum()));
    REQUIRE(moments_at_once.least() == moments_one_by_one.least());
    REQUIRE(moments_at_once.most() == moments_one_by_one.most());
    REQUIRE(moments_at_once.standard_deviation_ms() == moments_one_by_one.standard_deviation_ms());
  }
}

/// The same values in both.
struct Pair {
  DurationDistribution exact{Percentiles::exact};
  DurationDistribution sketch{Percentiles::sketch};

  void add(std::int64_t value, std::int64_t count = 1) {
    exact.add(Duration(value), count);
    sketch.add(Duration(value), count);
  }
  void add_single(std::int64_t value) {
    exact.add_single(Duration(value));
    sketch.add_single(Duration(value));
  }
  void add_progression(std::int64_t first, std::int64_t difference, std::int64_t length, std::int64_t count) {
    exact.add_progression(Duration(first), Duration(difference), length, count);
    sketch.add_progression(Duration(first), Duration(difference), length, count);
  }
};

void check_within_bound(const Pair& pair) {
  for (const PercentileRule rule : {PercentileRule::linear, PercentileRule::floor_of_rank}) {
    const auto exact = pair.exact.statistics(rule);
    const auto sketch = pair.sketch.statistics(rule);
    REQUIRE(exact);
    REQUIRE(sketch);
    for (const auto value :
         {&DurationStatistics::median_ms, &DurationStatistics::p50_ms, &DurationStatistics::p90_ms,
          &DurationStatistics::p95_ms, &DurationStatistics::p99_ms}) {
      // One rounding of each figure on top.
      const double most = (*exact).*value * (DurationDistribution::kSketchError + 1e-15);
      CHECK(std::abs((*sketch).*value - (*exact).*value) <= most);
    }
    CHECK(sketch->count == exact->count);
    CHECK(sketch->mean_ms == exact->mean_ms);
    CHECK(sketch->std_ms == exact->std_ms);
    CHECK(sketch->min_ms == exact->min_ms);
    CHECK(sketch->max_ms == exact->max_ms);
  }
  CHECK(pair.sketch.runs_kept() == 0);
  CHECK(pair.sketch.singles().empty());
}

TEST_CASE("a sketch stays within its bound of values that are equal, tiny or huge") {
  SECTION("equal") {
    Pair pair;
    for (int i = 0; i < 1000; ++i) {
      pair.add_single(123'456'789'012);
    }
    check_within_bound(pair);
    CHECK(pair.sketch.statistics(PercentileRule::linear)->p99_ms == 123.456789012);
  }
  SECTION("zero") {
    Pair pair;
    pair.add(0, 1'000'000);
    check_within_bound(pair);
  }
  SECTION("tiny values are exact") {
    Pair pair;
    for (std::int64_t i = 0; i < 512; ++i) {
      pair.add_single(i);
    }
    check_within_bound(pair);
    CHECK(pair.sketch.statistics(PercentileRule::linear)->p90_ms ==
          pair.exact.statistics(PercentileRule::linear)->p90_ms);
  }
  SECTION("huge") {
    Pair pair;
    pair.add_single(kLargest);
    pair.add_single(kLargest - 1);
    pair.add(kLargest / 2, 3);
    check_within_bound(pair);
  }
  SECTION("the ends of buckets") {
    for (const std::int64_t power : {std::int64_t{512}, std::int64_t{1} << 33, std::int64_t{1} << 60}) {
      for (const std::int64_t off : {-1, 0, 1}) {
        Pair pair;
        pair.add(power + off, 99);
        pair.add_single(0);
        pair.add_single(kLargest);
        check_within_bound(pair);
      }
    }
  }
  SECTION("few among many") {
    Pair pair;
    pair.add(1, 98);
    pair.add(kLargest, 2);
    check_within_bound(pair);
  }
}

TEST_CASE("a sketch stays within its bound of random values and progressions") {
  RandomStream random(7, "sketch");
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Pair pair;
    const auto below_power = [&](int most) {
      return static_cast<std::int64_t>(
          random.below(std::uint64_t{1} << random.below(static_cast<std::uint64_t>(most))));
    };
    const std::int64_t pieces = 1 + below_power(8);
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t length = 1 + below_power(9);
      switch (random.below(4)) {
        case 0:
          pair.add_single(below_power(62));
          break;
        case 1:
          pair.add(below_power(45), 1 + below_power(20));
          break;
        case 2:
          pair.add_progression(below_power(45), below_power(34), length, 1 + below_power(8));
          break;
        default: {
          const std::int64_t difference = below_power(34);
          pair.add_progression(difference * length + below_power(45), -difference, length,
                               1 + below_power(8));
        }
      }
    }
    check_within_bound(pair);
  }
}

}  // namespace
}  // namespace inferometer
