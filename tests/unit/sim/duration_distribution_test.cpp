#include "sim/metrics/duration_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

DurationDistribution of_milliseconds(const std::vector<std::int64_t>& values) {
  DurationDistribution distribution;
  for (const std::int64_t value : values) {
    distribution.add(milliseconds(value));
  }
  return distribution;
}

/// A distribution, and its values written out.
struct Filled {
  explicit Filled(Percentiles percentiles) : distribution(percentiles) {}

  void add(std::int64_t value, std::int64_t count = 1) {
    distribution.add(Duration(value), count);
    values.insert(values.end(), static_cast<std::size_t>(count), value);
  }
  void add_single(std::int64_t value) {
    distribution.add_single(Duration(value));
    values.push_back(value);
  }
  void add_progression(std::int64_t first, std::int64_t difference, std::int64_t length, std::int64_t count) {
    distribution.add_progression(Duration(first), Duration(difference), length, count);
    for (std::int64_t i = 0; i < length; ++i) {
      values.insert(values.end(), static_cast<std::size_t>(count), first + difference * i);
    }
  }
  [[nodiscard]] std::vector<std::int64_t> sorted() const {
    std::vector<std::int64_t> result = values;
    std::sort(result.begin(), result.end());
    return result;
  }
  [[nodiscard]] std::vector<std::int64_t> all_ranks() const {
    std::vector<std::int64_t> ranks(values.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }

  DurationDistribution distribution;
  std::vector<std::int64_t> values;
};

TEST_CASE("equal steps apart with equal counts become one run") {
  DurationDistribution distribution;
  for (int i = 0; i < 1000; ++i) {
    distribution.add(Duration(500 + 7 * i), 32);
  }
  REQUIRE(distribution.runs_kept() == 1);
  CHECK(distribution.open_run().first == 500);
  CHECK(distribution.open_run().difference == 7);
  CHECK(distribution.open_run().length == 1000);
  CHECK(distribution.count() == 32'000);
  // 32 * (1000 * 500 + 7 * 999 * 1000 / 2)
  CHECK(distribution.sum() == 127'888'000);
}

TEST_CASE("another count or another difference starts a run") {
  DurationDistribution distribution;
  distribution.add(Duration(10), 2);
  distribution.add(Duration(20), 2);
  distribution.add(Duration(30), 2);
  distribution.add(Duration(40), 3);
  distribution.add(Duration(45), 3);
  distribution.add(Duration(51), 3);
  REQUIRE(distribution.runs().size() == 2);
  CHECK(distribution.runs()[0].length == 3);
  CHECK(distribution.runs()[1].length == 2);
  CHECK(distribution.open_run().length == 1);
  CHECK(distribution.open_run().first == 51);
}

TEST_CASE("a run of one value takes half the space, up to 2^47 picoseconds") {
  constexpr std::int64_t kLargest = std::int64_t{1} << 47;
  DurationDistribution distribution;
  distribution.add(Duration(kLargest - 1), 65'535);
  distribution.add(Duration(kLargest), 1);
  distribution.add(Duration(7), 3);
  distribution.add(Duration(0), 2);
  REQUIRE(distribution.repetitions().size() == 2);
  CHECK(distribution.repetitions()[0].run().first == kLargest - 1);
  CHECK(distribution.repetitions()[0].run().count == 65'535);
  CHECK(distribution.repetitions()[1].run().first == 7);
  REQUIRE(distribution.runs().size() == 1);
  CHECK(distribution.runs().front().first == kLargest);
  CHECK(distribution.at_ranks(std::vector<std::int64_t>{0, 1, 2, 4, 5, 65'539, 65'540}) ==
        std::vector<std::int64_t>{0, 0, 7, 7, kLargest - 1, kLargest - 1, kLargest});
}

TEST_CASE("what does not fit a run goes into another one") {
  constexpr std::int64_t kSteepest = 2'147'483'647;  // picoseconds from one value to the next
  constexpr std::int64_t kMost = 65'535;             // values of a run, and repetitions of a value
  SECTION("a step too wide") {
    DurationDistribution distribution;
    for (const std::int64_t value : {std::int64_t{0}, kSteepest, 2 * kSteepest}) {
      distribution.add(Duration(value));
    }
    CHECK(distribution.runs_kept() == 1);
    distribution.add(Duration(kSteepest - 1));  // starts a run, since it goes down
    distribution.add(Duration(2 * kSteepest));  // upwards, one too far
    distribution.add(Duration(kSteepest - 1));  // downwards, one too far
    CHECK(distribution.runs_kept() == 4);
    CHECK(distribution.sum() == 7 * kSteepest - 2);
  }
  SECTION("too many values") {
    DurationDistribution distribution;
    for (std::int64_t i = 0; i <= kMost; ++i) {
      distribution.add(Duration(i));
    }
    CHECK(distribution.runs_kept() == 2);
    CHECK(distribution.count() == kMost + 1);
    CHECK(distribution.sum() == kMost * (kMost + 1) / 2);
  }
  SECTION("too many repetitions") {
    DurationDistribution distribution;
    distribution.add(Duration(9), 3 * kMost + 7);
    CHECK(distribution.count() == 3 * kMost + 7);
    CHECK(distribution.sum() == 9 * (3 * kMost + 7));
  }
}

// numpy: percentile([1, 2, 4, 8], [50, 90, 95, 99]) = 3, 6.8, 7.4, 7.88;
// positions 1.5, 2.7, 2.85 and 2.97.
TEST_CASE("linear percentiles are those of numpy") {
  const auto statistics = of_milliseconds({8, 1, 4, 2}).statistics(PercentileRule::linear);
  REQUIRE(statistics);
  CHECK(statistics->count == 4);
  CHECK(statistics->mean_ms == 3.75);
  CHECK(statistics->median_ms == 3.0);
  CHECK(statistics->p50_ms == 3.0);
  CHECK(statistics->p90_ms == 6.8);
  CHECK(statistics->p95_ms == 7.4);
  CHECK(statistics->p99_ms == 7.88);
  CHECK(statistics->min_ms == 1.0);
  CHECK(statistics->max_ms == 8.0);
  // Deviations -2.75, -1.75, 0.25, 4.25: squares add to 28.75.
  CHECK(statistics->std_ms == Approx(std::sqrt(28.75 / 4)).epsilon(1e-15));
}

TEST_CASE("MLPerf's percentile is the sorted value at floor(p * n)") {
  std::vector<std::int64_t> values(200);
  std::iota(values.begin(), values.end(), 0);
  const auto statistics = of_milliseconds(values).statistics(PercentileRule::floor_of_rank);
  REQUIRE(statistics);
  CHECK(statistics->p50_ms == 100);
  CHECK(statistics->median_ms == 99.5);
  CHECK(statistics->p90_ms == 180);
  CHECK(statistics->p99_ms == 198);
}

TEST_CASE("one value is all of its statistics") {
  const auto statistics = of_milliseconds({7}).statistics(PercentileRule::linear);
  REQUIRE(statistics);
  for (const double value :
       {statistics->mean_ms, statistics->min_ms, statistics->median_ms, statistics->p50_ms,
        statistics->p90_ms, statistics->p95_ms, statistics->p99_ms, statistics->max_ms}) {
    CHECK(value == 7);
  }
  CHECK(statistics->std_ms == 0);
  CHECK(of_milliseconds({7}).statistics(PercentileRule::floor_of_rank)->p99_ms == 7);
}

TEST_CASE("no values have no statistics") {
  CHECK_FALSE(DurationDistribution().statistics(PercentileRule::linear));
}

TEST_CASE("the spread of large values far from zero keeps its digits") {
  // 10^18 ps and its two neighbours: deviations -1, 0, 1.
  DurationDistribution distribution;
  constexpr std::int64_t kFar = 1'000'000'000'000'000'000;
  distribution.add(Duration(kFar), 1);
  distribution.add(Duration(kFar + 1), 1);
  distribution.add(Duration(kFar + 2), 1);
  CHECK(distribution.statistics(PercentileRule::linear)->std_ms ==
        Approx(std::sqrt(2.0 / 3) * 1e-9).epsilon(1e-12));
}

TEST_CASE("a spread whose squares pass 2^127 is still right") {
  // n pairs of 0 and 2d: standard deviation d. With d = 10^17 and n = 10^4 the
  // squares add to 2 * 10^38.
  DurationDistribution distribution;
  constexpr std::int64_t kDeviation = 100'000'000'000'000'000;
  for (int i = 0; i < 10'000; ++i) {
    distribution.add(Duration(0));
    distribution.add(Duration(2 * kDeviation));
  }
  CHECK(distribution.statistics(PercentileRule::linear)->std_ms == Approx(1e8).epsilon(1e-12));
}

TEST_CASE("a spread is right when the squares of one run pass 2^127") {
  // As many zeros as values 2d: standard deviation d. Two runs of 65535^2 terms each, with d = 10^18 ps: the
  // squares of either add to 4 * 10^45.
  constexpr std::int64_t kMany = 65'535;
  constexpr std::int64_t kFar = 1'000'000'000'000'000'000;
  DurationDistribution distribution;
  for (std::int64_t i = 0; i < kMany; ++i) {
    distribution.add(Duration(2 * kFar), kMany);
  }
  for (std::int64_t i = 0; i < kMany; ++i) {
    distribution.add(Duration(0), kMany);
  }
  REQUIRE(distribution.runs_kept() == 2);
  CHECK(distribution.statistics(PercentileRule::linear)->std_ms == Approx(1e9).epsilon(1e-12));
}

TEST_CASE("order statistics of random runs are those of their sorted terms") {
  RandomStream random(20'26, "runs");
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    // A narrow range makes ties; a range without bounds makes runs cross.
    const std::int64_t range = round % 3 == 0 ? 5 : round % 3 == 1 ? 1000 : 1'000'000'000'000;
    constexpr std::int64_t kSteepest = 2'147'483'647;
    Filled filled(Percentiles::exact);
    const std::int64_t how_many = between(1, 40);
    for (std::int64_t i = 0; i < how_many; ++i) {
      const std::int64_t length = between(1, 30);
      const std::int64_t first = between(0, range);
      const std::int64_t difference = length == 1 ? 0
                                                  : between(std::max(-kSteepest, -first / (length - 1)),
                                                            std::min(kSteepest, range / length));
      filled.add_progression(first, difference, length, between(1, 5));
      if (round % 2 == 0) {
        filled.add_single(between(0, range));
      }
    }
    const std::vector<std::int64_t> terms = filled.sorted();
    const std::vector<std::int64_t> all_ranks = filled.all_ranks();
    REQUIRE(filled.distribution.at_ranks(all_ranks) == terms);
    std::vector<std::int64_t> few = {0, between(0, all_ranks.back()), all_ranks.back()};
    const std::vector<std::int64_t> chosen = filled.distribution.at_ranks(few);
    for (std::size_t i = 0; i < few.size(); ++i) {
      REQUIRE(chosen[i] == terms[static_cast<std::size_t>(few[i])]);
    }
  }
}

TEST_CASE("moments of random values are those of the values") {
  RandomStream random(5, "gaps");
  DurationDistribution distribution;
  std::vector<double> values;
  std::int64_t value = 1'000'000'000;
  for (int i = 0; i < 5000; ++i) {
    // Stretches of a constant difference, as decode steps make them.
    value = i % 50 == 0 ? static_cast<std::int64_t>(random.below(20'000'000'000)) : value + 3'000'000;
    const auto count = static_cast<std::int64_t>(1 + (i / 25) % 3);
    distribution.add(Duration(value), count);
    values.insert(values.end(), static_cast<std::size_t>(count), static_cast<double>(value) / 1e9);
  }
  CHECK(distribution.runs_kept() < 500);
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) {
    squares += (v - mean) * (v - mean);
  }
  const auto statistics = distribution.statistics(PercentileRule::linear);
  CHECK(statistics->mean_ms == Approx(mean).epsilon(1e-12));
  CHECK(statistics->std_ms == Approx(std::sqrt(squares / n)).epsilon(1e-10));
}

TEST_CASE("data made to look the same to every sample still ends") {
  // One far value among equal ones, and values that double: the sampled pivot
  // alone would peel off one at a time.
  Filled filled(Percentiles::exact);
  for (int i = 0; i < 10'000; ++i) {
    filled.add_single(i == 4321 ? 1'000'000 : 5);
  }
  for (std::int64_t power = 1; power < (std::int64_t{1} << 60); power *= 2) {
    filled.add(power);
  }
  CHECK(filled.distribution.at_ranks(filled.all_ranks()) == filled.sorted());
}

}  // namespace
}  // namespace inferometer
