#include "sim/report/page/thinned.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

std::vector<ChartPoint> points_of(const std::vector<double>& ys) {
  std::vector<ChartPoint> points;
  for (const double y : ys) {
    points.push_back({static_cast<double>(points.size()), y, ""});
  }
  return points;
}

/// A sine with a spike of a single point each way.
std::vector<ChartPoint> spiked(std::size_t count, std::size_t high, std::size_t low) {
  std::vector<double> ys(count);
  for (std::size_t place = 0; place < count; ++place) {
    ys[place] = std::sin(static_cast<double>(place) / 50);
  }
  ys[high] = 9;
  ys[low] = -7;
  return points_of(ys);
}

bool has(const std::vector<std::size_t>& places, std::size_t place) {
  return std::binary_search(places.begin(), places.end(), place);
}

}  // namespace

TEST_CASE("a few points are all kept") {
  const auto points = points_of({3, 1, 4, 1, 5});
  CHECK(thinned_places(points, 5) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(thinned_places(points, 2000).size() == 5);
  CHECK(thinned_places({}, 4).empty());
}

TEST_CASE("of each run the lowest and the highest point stay, in their order") {
  // Inner points 1..8 in (6 - 2) / 2 = 2 runs: 1..4 with the lowest at 2 and the highest at 4, 5..8 with 8
  // and 6.
  const auto points = points_of({0, 2, 1, 3, 5, 6, 9, 7, 4, 0});
  CHECK(thinned_places(points, 6) == std::vector<std::size_t>{0, 2, 4, 6, 8, 9});
  // A run that is level keeps its ends.
  CHECK(thinned_places(points_of({1, 1, 1, 1, 1, 1}), 4) == std::vector<std::size_t>{0, 1, 4, 5});
  CHECK(thinned_places(points_of({1, 1, 1, 1, 1, 1, 1}), 6) == std::vector<std::size_t>{0, 1, 2, 3, 5, 6});
}

TEST_CASE("no more points than asked for are kept and neither peaks nor ends are lost") {
  for (const std::size_t count : {std::size_t{2001}, std::size_t{4003}, std::size_t{100'000}}) {
    for (const std::size_t most : {std::size_t{4}, std::size_t{7}, std::size_t{200}, std::size_t{2000}}) {
      for (const std::size_t high : {std::size_t{1}, count / 3, count - 2}) {
        const std::size_t low = count / 2;
        const auto places = thinned_places(spiked(count, high, low), most);
        CAPTURE(count, most, high);
        CHECK(places.size() <= most);
        CHECK(std::is_sorted(places.begin(), places.end()));
        CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
        CHECK((places.front() == 0 && places.back() == count - 1));
        CHECK((has(places, high) && has(places, low)));
      }
    }
  }
}

TEST_CASE("thinned points keep their labels and weights") {
  auto points = spiked(5000, 1234, 4321);
  points[1234].label = "the peak";
  points[1234].weight = 0.5;
  const auto kept = thinned(points, 100);
  CHECK(kept.size() <= 100);
  const auto peak =
      std::find_if(kept.begin(), kept.end(), [](const ChartPoint& point) { return point.y == 9; });
  REQUIRE(peak != kept.end());
  CHECK((peak->label == "the peak" && peak->weight == 0.5 && peak->x == 1234));
}

TEST_CASE("fewer than four places are refused") {
  CHECK_THROWS_AS(thinned_places({}, 3), std::logic_error);
}

}  // namespace inferometer
