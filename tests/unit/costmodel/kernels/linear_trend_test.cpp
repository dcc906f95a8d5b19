// Straight trends, against sums worked by hand.

#include "costmodel/kernels/linear_trend.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Edges = std::vector<std::vector<double>>;

double trend(const std::vector<double>& slopes, const Edges& edges, const std::vector<double>& features) {
  return linear_trend(slopes, edges, features);
}

}  // namespace

TEST_CASE("a trend is none in the middle of what trees cut and goes up by the slope") {
  // Cut from 2 to 6: the middle is 4, whatever lies between.
  const Edges edges{{2, 2.5, 6}};
  CHECK(trend({0.5}, edges, {4}) == 0);
  CHECK(trend({0.5}, edges, {5}) == Approx(0.5));
  CHECK(trend({0.5}, edges, {2}) == Approx(-1));
  CHECK(trend({-0.5}, edges, {5}) == Approx(-0.5));
}

TEST_CASE("a trend is level beyond the range that trees cut") {
  const Edges edges{{2, 6}};
  CHECK(trend({0.5}, edges, {6}) == Approx(1));
  CHECK(trend({0.5}, edges, {1e9}) == Approx(1));
  CHECK(trend({0.5}, edges, {-1e9}) == Approx(-1));
}

TEST_CASE("trends of features add up and a feature that is not cut has none") {
  const Edges edges{{2, 6}, {}, {10, 20}};
  // 0.5 x (5 - 4) + 0.1 x (12 - 15)
  CHECK(trend({0.5, 7, 0.1}, edges, {5, 1000, 12}) == Approx(0.2));
  // One edge is a range without width.
  CHECK(trend({3}, {{2}}, {100}) == 0);
}

TEST_CASE("without slopes there is no trend") {
  CHECK(trend({}, {{2, 6}, {1, 2}}, {5, 1}) == 0);
}

TEST_CASE("the largest trend is reached at the ends of all ranges") {
  const Edges edges{{2, 6}, {}, {10, 20}};
  // 0.5 x 2 + 0.1 x 5, whatever the signs
  CHECK(largest_trend(std::vector<double>{0.5, 7, -0.1}, edges) == Approx(1.5));
  CHECK(trend({0.5, 7, -0.1}, edges, {6, 0, 10}) == Approx(1.5));
  CHECK(largest_trend(std::vector<double>{}, edges) == 0);
}

}  // namespace inferometer
