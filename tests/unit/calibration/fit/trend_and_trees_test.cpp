// Trends and trees over functions that are known.

#include "calibration/fit/trend_and_trees.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/kernels/linear_trend.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

constexpr BoostingOptions kOptions{
    .trees = 100, .leaves = 20, .learning_rate = 0.12, .points_a_leaf = 5, .features_a_tree = 0.5};

double value_of(const TrendAndTrees& fit, const std::vector<double>& point) {
  return fit.trees.value(point) + linear_trend(fit.slopes, fit.trees.edges(), point);
}

/// Two features of values at random; the target rises by 0.3 with the first, and the second says nothing.
struct Sample {
  std::vector<std::vector<double>> columns{{}, {}};
  std::vector<double> targets;
};

/// Without points whose first feature lies between the two.
Sample rising_sample(double gap_from, double gap_to) {
  testing::Dice dice(1, "trend_and_trees");
  Sample sample;
  while (sample.targets.size() < 500) {
    const double x = static_cast<double>(dice.between(0, 1000)) / 100;
    const double y = static_cast<double>(dice.between(0, 1000)) / 100;
    if (x < gap_from || x > gap_to) {
      sample.columns[0].push_back(x);
      sample.columns[1].push_back(y);
      sample.targets.push_back(0.3 * x - 2);
    }
  }
  return sample;
}

double worst_error(const TrendAndTrees& fit, double from, double to) {
  double worst = 0;
  for (double x = from; x <= to; x += 0.1) {
    worst = std::max(worst, std::abs(value_of(fit, {x, 5}) - (0.3 * x - 2)));
  }
  return worst;
}

}  // namespace

TEST_CASE("half of a straight line is in the slopes") {
  const Sample sample = rising_sample(20, 20);
  const TrendAndTrees fit = fit_trend_and_trees(sample.columns, sample.targets, kOptions);
  REQUIRE(fit.slopes.size() == 2);
  // The penalty of 0.04 points on a feature of variance 1 leaves 1 / 1.04 of half of 0.3.
  CHECK(fit.slopes[0] == Approx(0.15 / 1.04).epsilon(0.01));
  CHECK(std::abs(fit.slopes[1]) < 0.005);
  CHECK(worst_error(fit, 0.5, 9.5) < 0.1);
}

TEST_CASE("between the shapes that were seen a trend errs half as much as trees alone") {
  const Sample sample = rising_sample(4, 8);
  const TrendAndTrees both = fit_trend_and_trees(sample.columns, sample.targets, kOptions);
  const TrendAndTrees trees{grow_trees(sample.columns, sample.targets, kOptions), {}};
  // Trees are level within the gap of 4 x 0.3 and jump once: nobody can be off by less than half of that
  // somewhere.
  CHECK(worst_error(trees, 4.2, 7.8) > 0.5);
  CHECK(worst_error(both, 4.2, 7.8) < 0.6 * worst_error(trees, 4.2, 7.8));
}

TEST_CASE("a feature that is the same everywhere has no slope") {
  Sample sample = rising_sample(20, 20);
  std::fill(sample.columns[1].begin(), sample.columns[1].end(), 3.0);
  const TrendAndTrees fit = fit_trend_and_trees(sample.columns, sample.targets, kOptions);
  CHECK(fit.slopes[1] == 0);
  CHECK(worst_error(fit, 0.5, 9.5) < 0.1);
}

TEST_CASE("what slopes say of points they were fitted to is taken from their trees") {
  // Two values of a feature: trees alone and trees over a trend both meet them, and so does their mean.
  std::vector<std::vector<double>> columns{{}};
  std::vector<double> targets;
  for (int i = 0; i < 40; ++i) {
    columns[0].push_back(i % 2 == 0 ? 1 : i % 4 == 1 ? 2 : 7);
    targets.push_back(i % 2 == 0 ? 0.4 : i % 4 == 1 ? -0.3 : 0.1);
  }
  BoostingOptions options = kOptions;
  options.features_a_tree = 1;
  const TrendAndTrees fit = fit_trend_and_trees(columns, targets, options);
  CHECK(value_of(fit, {1}) == Approx(0.4).margin(0.01));
  CHECK(value_of(fit, {2}) == Approx(-0.3).margin(0.01));
  CHECK(value_of(fit, {7}) == Approx(0.1).margin(0.01));
}

}  // namespace inferometer
