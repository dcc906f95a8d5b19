// Errors and quantiles worked by hand.

#include "costmodel/kernels/prediction_error.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

/// Predictions of 1 for what took 1 / ratio: ratio = predicted / measured.
std::vector<TimePair> pairs_of(std::initializer_list<double> ratios) {
  std::vector<TimePair> pairs;
  for (const double ratio : ratios) {
    pairs.push_back({ratio * 2e-6, 2e-6});
  }
  return pairs;
}

TEST_CASE("errors are predicted / measured - 1") {
  // -20 %, -10 %, 0, +10 %, +50 %: bias 30/5, mean of absolutes 90/5; sorted 0 10 10 20 50, of which 90 % lie
  // below 20 + 0.6 * 30.
  const RegionError error = region_error("here", pairs_of({1.1, 0.8, 1, 1.5, 0.9}));
  CHECK(error.region == "here");
  CHECK(error.points == 5);
  CHECK(error.bias == Approx(0.06));
  CHECK(error.mean == Approx(0.18));
  CHECK(error.median == Approx(0.10));
  CHECK(error.p90 == Approx(0.38));
}

TEST_CASE("the median of an even number lies between the middle two") {
  CHECK(region_error("", pairs_of({1.1, 1.2, 1.4, 1.8})).median == Approx(0.3));
}

TEST_CASE("ratios are what a prediction is to be multiplied by, at every twentieth") {
  // 19 measured times e^-9 ... e^9 of the prediction, shuffled by stride 8. One more falls with equal
  // probability into each of the 20 gaps between and beside them: the i-th is that of i / 20, and beyond the
  // first and the last there are no others.
  std::vector<TimePair> pairs;
  for (int i = 0; i < 19; ++i) {
    pairs.push_back({3e-6, 3e-6 * std::exp(i * 8 % 19 - 9)});
  }
  const RegionError error = region_error("", pairs);
  CHECK(error.log_ratio.front() == Approx(-9));
  for (int i = 1; i <= 19; ++i) {
    CHECK(error.log_ratio[static_cast<std::size_t>(i)] == Approx(i - 10).margin(1e-12));
  }
  CHECK(error.log_ratio.back() == Approx(9));
  CHECK(log_ratio_at(error, 0) == Approx(-9));
  CHECK(log_ratio_at(error, 0.10) == Approx(-8));
  CHECK(log_ratio_at(error, 0.1125) == Approx(-7.75));  // a quarter of the way from 10 % to 15 %
  CHECK(log_ratio_at(error, 0.5) == Approx(0).margin(1e-12));
  CHECK(log_ratio_at(error, 1) == Approx(9));
}

TEST_CASE("quantiles of few points lie between them, and of three the outer ones are the points") {
  // 0, 1 and 2 are those of 25, 50 and 75 %.
  const RegionError error = region_error("", {{1, std::exp(2)}, {1, 1}, {1, std::exp(1)}});
  CHECK(log_ratio_at(error, 0.05) == Approx(0).margin(1e-12));
  CHECK(log_ratio_at(error, 0.25) == Approx(0).margin(1e-12));
  CHECK(log_ratio_at(error, 0.3) == Approx(0.2));
  CHECK(log_ratio_at(error, 0.5) == Approx(1));
  CHECK(log_ratio_at(error, 0.95) == Approx(2));
}

TEST_CASE("an interval from few points holds nine in ten of others of their kind") {
  // Intervals from 24 even draws of a time within a factor of e, each tried on 1,000 more: their mean is 90 %
  // within what chance allows, a hundredth.
  testing::Dice dice(5, "prediction_error");
  const auto draw = [&](int count) {
    std::vector<TimePair> pairs;
    for (int i = 0; i < count; ++i) {
      pairs.push_back({1, std::exp(static_cast<double>(dice.between(0, 1'000'000)) / 1e6)});
    }
    return pairs;
  };
  double covered = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    covered += covered_90(region_error("", draw(24)), draw(1'000)) / kTrials;
  }
  CHECK(covered == Approx(0.9).margin(0.01));
}

TEST_CASE("one pair is every quantile") {
  const RegionError error = region_error("", {{2, 4}});
  CHECK(error.bias == Approx(-0.5));
  CHECK(error.median == Approx(0.5));
  CHECK(error.p90 == Approx(0.5));
  for (const double ratio : error.log_ratio) {
    CHECK(ratio == Approx(std::log(2)));
  }
}

TEST_CASE("covered: measured times between the 5 and 95 % of an error, borders included") {
  RegionError error;
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = 0.1 * (static_cast<double>(i) - 10);  // -0.9 at 5 %, 0.9 at 95 %
  }
  const auto measured_at = [](double log_ratio) { return TimePair{1, std::exp(log_ratio)}; };
  CHECK(covered_90(error, {measured_at(-0.899), measured_at(0), measured_at(0.899)}) == 1);
  CHECK(covered_90(error, {measured_at(-0.901)}) == 0);
  CHECK(covered_90(error, {measured_at(0.901)}) == 0);
  CHECK(covered_90(error, {measured_at(-5), measured_at(0), measured_at(0.5), measured_at(5)}) == 0.5);
  // A degenerate interval, of one pair: that pair lies on both borders.
  CHECK(covered_90(region_error("", {{1, 1}}), {{1, 1}}) == 1);
}

}  // namespace
}  // namespace inferometer
