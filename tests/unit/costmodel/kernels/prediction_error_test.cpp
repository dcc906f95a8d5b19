// Errors and quantiles worked by hand.

#include "costmodel/kernels/prediction_error.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

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
  // 21 measured times e^-10 ... e^10 of the prediction, shuffled by stride 8: quantile i is i - 10.
  std::vector<TimePair> pairs;
  for (int i = 0; i < 21; ++i) {
    pairs.push_back({3e-6, 3e-6 * std::exp(i * 8 % 21 - 10)});
  }
  const RegionError error = region_error("", pairs);
  for (int i = 0; i < 21; ++i) {
    CHECK(error.log_ratio[static_cast<std::size_t>(i)] == Approx(i - 10).margin(1e-12));
  }
  CHECK(log_ratio_at(error, 0) == Approx(-10));
  CHECK(log_ratio_at(error, 0.05) == Approx(-9));
  CHECK(log_ratio_at(error, 0.0625) == Approx(-8.75));  // a quarter of the way from 5 % to 10 %
  CHECK(log_ratio_at(error, 0.5) == Approx(0).margin(1e-12));
  CHECK(log_ratio_at(error, 1) == Approx(10));
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

TEST_CASE("of many points nine in ten lie within their own interval") {
  // 401 ratios evenly spread: 5 % is point 20 and 95 % point 380, both within.
  std::vector<TimePair> pairs;
  for (int i = 0; i < 401; ++i) {
    pairs.push_back({1, 1 + i / 401.0});
  }
  const double covered = covered_90(region_error("", pairs), pairs);
  CHECK(covered >= 359.0 / 401);
  CHECK(covered <= 361.0 / 401);
}

}  // namespace
}  // namespace inferometer
