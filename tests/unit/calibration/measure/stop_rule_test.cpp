// When enough samples were taken. Ranks of the median's interval are those of published tables of the sign
// test; the distributions are made here.

#include "calibration/measure/stop_rule.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// 1, 2, ..., count, last first.
std::vector<double> first_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.rbegin(), numbers.rend(), 1.0);
  return numbers;
}

struct Stop {
  StopReason reason;
  std::size_t samples;
  double median;
};

/// Takes samples until the rule says stop.
template <typename Draw>
Stop sample_until_stop(Draw draw, const StopRule& rule = {}) {
  std::vector<double> samples;
  for (;;) {
    if (const std::optional<StopReason> why = why_stop(samples, 0, rule)) {
      return {*why, samples.size(), quartiles(samples).median};
    }
    samples.push_back(draw(samples.size()));
  }
}

TEST_CASE("quartiles lie between samples as numpy has them") {
  const Quartiles four = quartiles(std::vector<double>{4, 1, 3, 2});
  CHECK(four.min == 1);
  CHECK(four.q1 == 1.75);
  CHECK(four.median == 2.5);
  CHECK(four.q3 == 3.25);
  const Quartiles five = quartiles(std::vector<double>{50, 10, 40, 20, 30});
  CHECK(five.q1 == 20);
  CHECK(five.median == 30);
  CHECK(five.q3 == 40);
  const Quartiles one = quartiles(std::vector<double>{7});
  CHECK(one.min == 7);
  CHECK(one.q1 == 7);
  CHECK(one.median == 7);
  CHECK(one.q3 == 7);
}

TEST_CASE("the interval of the median has the ranks of the sign test's tables") {
  // Samples, and the ranks that hold their median with 95 % confidence.
  const auto [count, low, high] = GENERATE(table<std::size_t, double, double>({{6, 1, 6},
                                                                               {9, 2, 8},
                                                                               {10, 2, 9},
                                                                               {15, 4, 12},
                                                                               {20, 6, 15},
                                                                               {30, 10, 21},
                                                                               {50, 18, 33},
                                                                               {100, 40, 61}}));
  CAPTURE(count);
  const double median = (static_cast<double>(count) + 1) / 2;
  CHECK(median_interval_share(first_numbers(count), 0.95) == Approx((high - low) / median));
}

TEST_CASE("five samples cannot hold their median with 95 % confidence") {
  CHECK(std::isinf(median_interval_share(first_numbers(5), 0.95)));
  // One in 16 misses: 90 % they can.
  CHECK(median_interval_share(first_numbers(5), 0.9) == Approx(4.0 / 3));
}

TEST_CASE("the interval stays a number up to the most samples") {
  const double share = median_interval_share(first_numbers(1000), 0.95);
  // Half of 1.96 sqrt(n) ranks to each side.
  CHECK(share == Approx(1.96 * std::sqrt(1000.0) / 500.5).epsilon(0.05));
}

TEST_CASE("a quiet kernel is done after the least samples and not before") {
  const Stop stop = sample_until_stop([](std::size_t) { return 1e-5; });
  CHECK(stop.reason == StopReason::narrow);
  CHECK(stop.samples == 10);
}

TEST_CASE("normal noise of a fifth of a percent takes few samples and hits the median") {
  RandomStream random(1, "stop_rule/normal");
  for (int trial = 0; trial < 200; ++trial) {
    const Stop stop = sample_until_stop([&](std::size_t) { return 1e-5 * (1 + 0.002 * random.normal()); });
    CHECK(stop.reason == StopReason::narrow);
    CHECK(stop.samples >= 10);
    CHECK(stop.samples <= 40);
    // The standard error of a median of ten is 0.2 % x 1.25 / sqrt(10) = 0.08 %.
    CHECK(stop.median == Approx(1e-5).epsilon(0.004));
  }
}

TEST_CASE("loud noise that more samples still make smaller goes on to the most samples") {
  // 3 % of noise would need 4.9^2 x 6^2 = 870 samples for an interval of 0.5 %.
  RandomStream random(2, "stop_rule/loud");
  int to_the_end = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Stop stop = sample_until_stop([&](std::size_t) { return 1e-5 * (1 + 0.03 * random.normal()); });
    to_the_end += stop.reason == StopReason::most_samples && stop.samples == 256 ? 1 : 0;
    CHECK(stop.samples >= 64);
  }
  CHECK(to_the_end >= 180);
}

TEST_CASE("two modes as likely as each other are given up early") {
  RandomStream random(3, "stop_rule/bimodal");
  int settled_at_once = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Stop stop = sample_until_stop([&](std::size_t) {
      return (random.uniform() < 0.5 ? 1e-5 : 1.1e-5) * (1 + 0.0005 * random.normal());
    });
    settled_at_once += stop.reason == StopReason::noise_settled && stop.samples == 64 ? 1 : 0;
  }
  // The interval of ten samples, ranks 2 to 9, lies within one mode in 2 % of all cases, and every further
  // look is another chance; that of 64 samples, ranks 25 to 40, in 6 %. All of them: at most one in four.
  CHECK(settled_at_once >= 150);
}

TEST_CASE("a few slow runs among many do not keep the median from settling") {
  RandomStream random(4, "stop_rule/outliers");
  for (int trial = 0; trial < 100; ++trial) {
    const Stop stop = sample_until_stop(
        [&](std::size_t) { return (random.uniform() < 0.1 ? 2e-5 : 1e-5) * (1 + 0.001 * random.normal()); });
    CHECK(stop.reason == StopReason::narrow);
    CHECK(stop.median == Approx(1e-5).epsilon(0.003));
  }
}

TEST_CASE("times that drift are given up as soon as that shows") {
  const Stop stop =
      sample_until_stop([](std::size_t sample) { return 1e-5 * (1 + 0.001 * static_cast<double>(sample)); });
  CHECK(stop.reason == StopReason::noise_settled);
  CHECK(stop.samples == 64);
}

TEST_CASE("the limits of samples and of time are met exactly") {
  StopRule rule;
  rule.most_samples = 20;
  rule.most_seconds = 2;
  // Never narrow: every number another.
  CHECK_FALSE(why_stop(first_numbers(19), 0, rule));
  CHECK(why_stop(first_numbers(20), 0, rule) == StopReason::most_samples);
  CHECK_FALSE(why_stop(first_numbers(3), 1.999, rule));
  CHECK(why_stop(first_numbers(3), 2, rule) == StopReason::most_seconds);
  // A median of two is none.
  CHECK_FALSE(why_stop(first_numbers(2), 100, rule));
  CHECK_FALSE(why_stop({}, 100, rule));
}

TEST_CASE("the width asked for is an option") {
  // Ranks 2 and 9 of ten are 7 apart, of 1005.5.
  std::vector<double> samples = first_numbers(10);
  for (double& sample : samples) {
    sample += 1000;
  }
  StopRule rule;
  rule.narrow_share = 7 / 1005.5 * 1.001;
  CHECK(why_stop(samples, 0, rule) == StopReason::narrow);
  rule.narrow_share = 7 / 1005.5 * 0.999;
  CHECK_FALSE(why_stop(samples, 0, rule));
}

TEST_CASE("a stop rule outside of its ranges is a broken promise") {
  const auto broken = [](auto change) {
    StopRule rule;
    change(rule);
    CHECK_THROWS_AS(why_stop(first_numbers(3), 0, rule), std::logic_error);
  };
  broken([](StopRule& rule) { rule.least_samples = 2; });
  broken([](StopRule& rule) { rule.most_samples = 9; });
  broken([](StopRule& rule) { rule.most_samples = StopRule::kMostSamples + 1; });
  broken([](StopRule& rule) { rule.confidence = 1; });
}

}  // namespace
}  // namespace inferometer
