#include <cmath>
#include <vector>

#include "sim/study/plan/least_cost.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

// Lines below (1, 10) (2, 10) (4, 12) (8, 24): 10 a step; 8 a step and 1 a unit, through the second and
// third; 3 a unit, through the last two.
const std::vector<PricePoint> kRising = {{1, 10}, {2, 10}, {4, 12}, {8, 24}};

TEST_CASE("the least price of one step is the envelope of prices") {
  const LeastPrice price(kRising);
  REQUIRE(price.lines().size() == 3);
  CHECK(price.of(1, 1) == 10);
  CHECK(price.of(1, 2) == 10);
  CHECK(price.of(1, 3) == 11);
  CHECK(price.of(1, 4) == 12);
  CHECK(price.of(1, 8) == 24);
  CHECK(price.of(0, 0) == 0);
}

TEST_CASE("the least price of several steps is that of equal ones") {
  const LeastPrice price(kRising);
  CHECK(price.of(2, 6) == 2 * 11);
  CHECK(price.of(3, 3) == 3 * 10);
  CHECK(price.of(1, 80) == 240);  // beyond what was looked at, the lowest price of a unit holds
}

// (1, 10) (2, 6) (4, 8): no step below 6, no unit below 2, 4 a step and 1 a unit between.
TEST_CASE("prices that fall are bounded by the cheapest step") {
  const LeastPrice price(std::vector<PricePoint>{{1, 10}, {2, 6}, {4, 8}});
  CHECK(price.of(1, 1) == 6);
  CHECK(price.of(1, 3) == 7);
  CHECK(price.of(1, 10) == 20);
}

// (2, 100) lies above the line from (1, 10) to (3, 12).
TEST_CASE("an expensive size in between changes nothing") {
  const LeastPrice price(std::vector<PricePoint>{{1, 10}, {2, 100}, {3, 12}});
  CHECK(price.of(1, 2) == 11);
}

TEST_CASE("a line with a price of a unit lies between its neighbours") {
  const LeastPrice price(kRising);
  // Of 2 a unit: halfway from 8 + 1 n to 3 n.
  CHECK(price.best_line(1, 2, 2).seconds_per_unit == 2);
  CHECK(price.best_line(1, 2, 2).seconds_per_step == 4);
  CHECK(price.best_line(1, 2, 0).at(1, 2) == 10);
  CHECK(price.best_line(1, 100, 2).at(1, 100) == 300);
  CHECK(price.best_line(1, 1, 5).seconds_per_unit == 3);  // there is none steeper
}

TEST_CASE("a line that is asked for lies below all prices") {
  const LeastPrice price(kRising);
  for (const double least : {0.0, 0.3, 1.0, 1.7, 2.9, 3.0}) {
    const CostLine line = price.best_line(1, 3, least);
    for (const PricePoint& point : kRising) {
      CHECK(line.at(1, point.units) <= point.seconds * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace inferometer
