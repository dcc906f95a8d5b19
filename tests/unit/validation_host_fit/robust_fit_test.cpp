#include "sim/validation/host_fit/robust_fit.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("the scale is that of normal errors, whatever a few residuals do") {
  // Sizes 1, 2, 3, 4, 1000: the median is 3.
  const std::vector<double> residuals = {-1, 2, -3, 4, 1000};
  CHECK_THAT(robust_scale(residuals), WithinAbs(3 * 1.4826, 1e-12));
  CHECK_THAT(huber_limit(2), WithinAbs(2.69, 1e-12));
}

TEST_CASE("Huber's loss is a square up to its limit and a line beyond") {
  // 1^2 / 2 + 2^2 / 2 + 2 * (5 - 1), the second at its limit.
  CHECK_THAT(huber_loss(std::vector<double>{1, -2, 5}, 2), WithinAbs(0.5 + 2 + 8, 1e-12));
}

TEST_CASE("a location is found as worked by hand") {
  // 0, 0, 0 and 10 with limit 1: the slopes 3 m and 1 (of the one that is far) balance at m = 1/3; plain
  // squares have 2.5. A far one that counts three times pulls three times as hard: 3 m = 3 at m = 1.
  const LinearResiduals problem{1, {0, 0, 0, 10}, {-1, -1, -1, -1}};
  const std::vector<double> free = {-100};
  CHECK_THAT(huber_step(problem, std::vector<double>{1, 1, 1, 1}, 1, free)[0], WithinAbs(1.0 / 3, 1e-8));
  CHECK_THAT(huber_step(problem, std::vector<double>{1, 1, 1, 2}, 1, free)[0], WithinAbs(2.0 / 3, 1e-8));
  CHECK_THAT(bounded_step(problem, std::vector<double>{1, 1, 1, 1}, free)[0], WithinAbs(2.5, 1e-8));
}

TEST_CASE("an unknown at its bound lets the others find their best beside it") {
  // (x - 1)^2 + (x + y)^2: free, x = 1 and y = -1; with y >= 0, x = 1/2 and y = 0.
  const LinearResiduals problem{2, {-1, 0}, {1, 0, 1, 1}};
  const std::vector<double> weights = {1, 1};
  const std::vector<double> free = bounded_step(problem, weights, std::vector<double>{-9, -9});
  CHECK_THAT(free[0], WithinAbs(1, 1e-8));
  CHECK_THAT(free[1], WithinAbs(-1, 1e-8));
  const std::vector<double> bounded = bounded_step(problem, weights, std::vector<double>{-9, 0});
  CHECK_THAT(bounded[0], WithinAbs(0.5, 1e-8));
  CHECK(bounded[1] == 0);
  // With x >= 1 alone, y follows it: x = 1 costs nothing.
  const std::vector<double> higher =
      bounded_step({2, {1, 0}, {1, 0, 1, 1}}, weights, std::vector<double>{0, -9});
  CHECK(higher[0] == 0);  // (x + 1)^2 wants x = -1
  CHECK_THAT(higher[1], WithinAbs(0, 1e-8));
}

TEST_CASE("weights count as often as they say") {
  // Weighted mean of 0 and 6 with weights 2 and 1.
  const LinearResiduals problem{1, {0, 6}, {-1, -1}};
  CHECK_THAT(bounded_step(problem, std::vector<double>{2, 1}, std::vector<double>{-9})[0],
             WithinAbs(2, 1e-8));
}

TEST_CASE("what residuals do not tell is said") {
  // The second moves nothing, the third as the first does, the fourth on its own.
  const LinearResiduals problem{4, {0, 0}, {1, 0, 2, 1, 1, 0, 2, -1}};
  CHECK(determined_unknowns(problem, 0.5) == std::vector<bool>{true, false, false, true});
  // The effect has to reach what is asked for.
  CHECK(determined_unknowns(problem, 1.5) == std::vector<bool>{false, false, true, false});
  // Nothing is stepped into that has no effect.
  const std::vector<double> step =
      bounded_step({2, {3}, {1, 0}}, std::vector<double>{1}, std::vector<double>{-9, -9});
  CHECK_THAT(step[0], WithinAbs(-3, 1e-8));
  CHECK(step[1] == 0);
}

}  // namespace
}  // namespace inferometer
