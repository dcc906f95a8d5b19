#include "sim/metrics/stability.hpp"

#include <cmath>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// Arrivals 100 ms apart, with what each finds in the system and what waits at the last.
template <class InSystem>
ArrivalTotals arrivals(std::int64_t count, std::int64_t waiting_at_last, InSystem in_system) {
  ArrivalTotals totals;
  totals.count = count;
  totals.first = TimePoint(seconds(3));
  totals.last = totals.first + milliseconds(100) * (count - 1);
  totals.squared_gaps = Int128{milliseconds(100).count()} * milliseconds(100).count() * (count - 1);
  totals.waiting_at_last = waiting_at_last;
  for (std::int64_t i = 0; i < count; ++i) {
    totals.in_system.add(in_system(i));
  }
  return totals;
}

TEST_CASE("a queue that keeps a fifth of its arrivals is unstable") {
  const ArrivalTotals totals = arrivals(10'000, 1990, [](std::int64_t i) { return i / 5; });
  const StabilityReport report = judge_stability(totals, false, 8.0);
  CHECK(report.verdict == QueueStability::unstable);
  CHECK(*report.growth_share == Approx(0.2).epsilon(1e-3));
  CHECK(report.offered_per_second == Approx(10));
  CHECK(*report.load == Approx(1.25));
  CHECK(report.sentence.find("1990 requests waited") != std::string::npos);
  CHECK(report.sentence.find("20 % stayed") != std::string::npos);
}

TEST_CASE("a queue that varies around a level is stable") {
  RandomStream random(3, "level");
  const ArrivalTotals totals =
      arrivals(10'000, 12, [&](std::int64_t) { return 50 + static_cast<std::int64_t>(random.below(40)); });
  const StabilityReport report = judge_stability(totals, false, std::nullopt);
  CHECK(report.verdict == QueueStability::stable);
  CHECK(std::abs(*report.growth_share) < 0.01);
  CHECK_FALSE(report.load);
}

TEST_CASE("only the second half of the arrivals counts: filling up at first is no growth") {
  const ArrivalTotals totals =
      arrivals(2000, 400, [](std::int64_t i) { return std::min<std::int64_t>(i, 800); });
  const StabilityReport report = judge_stability(totals, false, std::nullopt);
  CHECK(report.verdict == QueueStability::stable);
  CHECK(report.sentence.find("is long, but did not grow") != std::string::npos);
}

// 1000 arrivals, 500 of them in the second half, regular: chance explains 4 * sqrt(500) = 89.4 waiting
// requests.
TEST_CASE("the least backlog that chance does not explain") {
  const auto growing = [](std::int64_t i) { return i / 10; };
  CHECK(judge_stability(arrivals(1000, 90, growing), false, std::nullopt).verdict ==
        QueueStability::unstable);
  CHECK(judge_stability(arrivals(1000, 89, growing), false, std::nullopt).verdict == QueueStability::stable);
}

TEST_CASE("the least growth that counts is five percent") {
  const auto growing_by = [](double share) {
    return arrivals(10'000, 5000, [=](std::int64_t i) {
      return static_cast<std::int64_t>(share * static_cast<double>(i));
    });
  };
  CHECK(judge_stability(growing_by(0.051), false, std::nullopt).verdict == QueueStability::unstable);
  CHECK(judge_stability(growing_by(0.049), false, std::nullopt).verdict == QueueStability::stable);
}

// 10,000 regular arrivals at 10/s: chance explains 4 * sqrt(5000) = 283 waiting requests.
TEST_CASE("a calm second half does not hide that too much is offered") {
  const auto level = [](std::int64_t i) { return std::min<std::int64_t>(i, 400); };
  const StabilityReport overloaded = judge_stability(arrivals(10'000, 300, level), false, 9.5);
  CHECK(overloaded.verdict == QueueStability::unstable);
  CHECK(overloaded.sentence.find("300 requests waited") != std::string::npos);
  CHECK(judge_stability(arrivals(10'000, 300, level), false, 9.6).verdict ==
        QueueStability::stable);  // 104 %
  CHECK(judge_stability(arrivals(10'000, 280, level), false, 9.5).verdict == QueueStability::stable);
  CHECK(judge_stability(arrivals(10'000, 300, level), false, std::nullopt).verdict == QueueStability::stable);
  // An estimate that leaves out what caches spare is too low to condemn anything, but for growth.
  CHECK(judge_stability(arrivals(10'000, 300, level), false, 9.5, true).verdict == QueueStability::stable);
  CHECK(judge_stability(arrivals(10'000, 5000, [](std::int64_t i) { return i / 2; }), false, 9.5, true)
            .verdict == QueueStability::unstable);
}

TEST_CASE("bursty arrivals explain a larger backlog") {
  // Gaps alternate 0 and 200 ms: same mean, c^2 = 2 * 200^2 / (4 * 100^2) - 1 = 1, as Poisson. Ten at a time,
  // every second: c^2 = 9, and chance explains three times as much: 4 * sqrt(500 * 9) = 268.
  ArrivalTotals totals = arrivals(1000, 250, [](std::int64_t i) { return i / 3; });
  totals.squared_gaps *= 10;
  CHECK(judge_stability(totals, false, std::nullopt).verdict != QueueStability::unstable);
  totals.waiting_at_last = 270;
  CHECK(judge_stability(totals, false, std::nullopt).verdict == QueueStability::unstable);
}

TEST_CASE("a run that fills up without anyone waiting is too short to judge") {
  const StabilityReport report =
      judge_stability(arrivals(1000, 0, [](std::int64_t i) { return i; }), false, std::nullopt);
  CHECK(report.verdict == QueueStability::not_applicable);
  CHECK(report.sentence.find("too short") != std::string::npos);
}

TEST_CASE("closed loops, one burst and few arrivals have no steady state to look for") {
  const auto level = [](std::int64_t) { return 8; };
  const StabilityReport closed = judge_stability(arrivals(1000, 0, level), true, 5.0);
  CHECK(closed.verdict == QueueStability::not_applicable);
  CHECK(closed.sentence.find("closed loop") != std::string::npos);
  CHECK_FALSE(closed.load);

  ArrivalTotals burst = arrivals(1000, 0, level);
  burst.last = burst.first;
  const StabilityReport at_once = judge_stability(burst, false, std::nullopt);
  CHECK(at_once.verdict == QueueStability::not_applicable);
  CHECK(at_once.sentence.find("at once") != std::string::npos);
  CHECK(at_once.offered_per_second == 0);

  CHECK(judge_stability(arrivals(99, 0, level), false, std::nullopt).verdict ==
        QueueStability::not_applicable);
  CHECK(judge_stability(arrivals(100, 0, level), false, std::nullopt).verdict == QueueStability::stable);
  CHECK(judge_stability(ArrivalTotals(), false, std::nullopt).verdict == QueueStability::not_applicable);
}

TEST_CASE("thinned samples are every stride-th value") {
  ThinnedSamples<std::int64_t> samples(8);
  for (std::int64_t i = 0; i < 1000; ++i) {
    samples.add(i * i);
  }
  CHECK(samples.stride() == 256);
  REQUIRE(samples.kept().size() == 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK(samples.kept()[static_cast<std::size_t>(i)] == (256 * i) * (256 * i));
  }
}

}  // namespace
}  // namespace inferometer
