#include "sim/validation/host_fit/gauss_newton.hpp"

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

const std::vector<std::size_t> kOneKind(40, 0);

/// ln of (10 + a + b n) over what it is with the true a and b: what a step of n sequences takes.
ResidualsAt step_times(double a, double b, int spoiled = 0) {
  return [=](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> residuals;
    for (const std::vector<double>& point : points) {
      residuals.emplace_back();
      for (int n = 1; n <= 40; ++n) {
        const double measured = (10 + a + b * n) * (n % 10 < spoiled ? 3 : 1);
        residuals.back().push_back(std::log((10 + point[0] + point[1] * n) / measured));
      }
    }
    return residuals;
  };
}

TEST_CASE("known values are found from elsewhere") {
  for (const double start : {0.0, 1.0, 20.0}) {
    const GaussNewtonFit fit =
        fit_gauss_newton({{start, 0.1, 100}, {1, 0.1, 100}}, kOneKind, step_times(4, 0.5));
    CHECK(fit.has_settled);
    CHECK(fit.steps <= 6);
    CHECK_THAT(fit.values[0], WithinRel(4, 0.005));
    CHECK_THAT(fit.values[1], WithinRel(0.5, 0.005));
  }
}

TEST_CASE("one measurement in ten that is three times too long hardly matters") {
  const GaussNewtonFit fit =
      fit_gauss_newton({{1, 0.1, 100}, {1, 0.1, 100}}, kOneKind, step_times(4, 0.5, 1));
  CHECK_THAT(fit.values[0], WithinRel(4, 0.05));
  CHECK_THAT(fit.values[1], WithinRel(0.5, 0.05));
}

TEST_CASE("figures that scatter much do not drown those that do not") {
  // 20 say 2, each within 0.01; 30 say 3, within 1: as one kind their median scatter draws the value up.
  std::vector<std::size_t> kinds;
  const auto residuals = [](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> at(points.size());
    for (std::size_t p = 0; p < points.size(); ++p) {
      for (int i = 0; i < 50; ++i) {
        const double side = i % 2 == 0 ? 1 : -1;
        at[p].push_back(points[p][0] - (i < 20 ? 2 + 0.01 * side : 3 + side));
      }
    }
    return at;
  };
  for (int i = 0; i < 50; ++i) {
    kinds.push_back(i < 20 ? 0 : 1);
  }
  CHECK_THAT(fit_gauss_newton({{1, 0.1, 9}}, kinds, residuals).values[0], WithinAbs(2, 0.02));
  CHECK(fit_gauss_newton({{1, 0.1, 9}}, std::vector<std::size_t>(50, 0), residuals).values[0] > 2.1);
}

TEST_CASE("what would be below nothing stays at nothing") {
  // The truth has a = -2: the best with a >= 0 is at 0.
  const GaussNewtonFit fit = fit_gauss_newton({{1, 0.1, 100}, {1, 0.1, 100}}, kOneKind, step_times(-2, 0.5));
  CHECK(fit.values[0] == 0);
  CHECK(fit.values[1] < 0.5);
  CHECK(fit.values[1] > 0.3);
}

TEST_CASE("no value passes the most there is") {
  const GaussNewtonFit fit = fit_gauss_newton({{1, 0.1, 3}, {1, 0.1, 100}}, kOneKind, step_times(4, 0.5));
  CHECK(fit.values[0] <= 3);
}

TEST_CASE("an unknown that moves nothing stays where it is") {
  const auto residuals = [](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> at;
    for (const std::vector<double>& point : points) {
      at.push_back({point[0] - 2, point[0] - 2});
    }
    return at;
  };
  const GaussNewtonFit fit = fit_gauss_newton({{1, 0.1, 9}, {0.7, 0.1, 9}}, {0, 0}, residuals);
  CHECK(fit.is_determined == std::vector<bool>{true, false});
  CHECK_THAT(fit.values[0], WithinAbs(2, 0.01));
  CHECK(fit.values[1] == 0.7);
}

TEST_CASE("intervals are as wide as standard errors have them") {
  // The mean of 400 normal errors of 0.1: 5 and 95 % are 1.645 * 0.1 / 20 away. Huber's loss costs 5 % of the
  // efficiency, so 2.5 % of the width; 500 draws know their quantiles to about 10 %.
  RandomStream stream(7, "intervals");
  GaussNewtonFit fit;
  fit.values = {3};
  fit.is_determined = {true};
  fit.at_solution.unknowns = 1;  // residuals and derivatives in standard errors
  std::vector<std::size_t> alone, in_pairs;
  for (std::size_t i = 0; i < 400; ++i) {
    fit.at_solution.residuals.push_back(stream.normal());
    fit.at_solution.derivatives.push_back(10);
    alone.push_back(i);
  }
  const auto [low, high] = bootstrap_intervals(fit, alone, 400).front();
  CHECK_THAT(high - low, WithinRel(2 * 1.645 * 0.1 / 20, 0.25));
  CHECK(low < 3.01);
  CHECK(high > 2.99);
  // Two residuals a run that are alike tell no more than one: the interval is as wide as that of 200.
  for (std::size_t i = 0; i < 400; ++i) {
    in_pairs.push_back(i / 2);
    fit.at_solution.residuals[i] = fit.at_solution.residuals[i - i % 2];
  }
  const auto paired = bootstrap_intervals(fit, in_pairs, 200).front();
  CHECK_THAT(paired.second - paired.first, WithinRel(2 * 1.645 * 0.1 / std::sqrt(200), 0.25));
}

TEST_CASE("intervals do not reach below nothing") {
  GaussNewtonFit fit{{0.01}, {true}, {1, {1, -1, 1, -1, 1, -1}, {1, 1, 1, 1, 1, 1}}, 1, true};
  const auto [low, high] = bootstrap_intervals(fit, {0, 1, 2, 3, 4, 5}, 6).front();
  CHECK(low == 0);
  CHECK(high > 0.3);
}

}  // namespace
}  // namespace inferometer
