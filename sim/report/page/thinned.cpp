#include "sim/report/page/thinned.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

std::vector<std::size_t> thinned_places(const std::vector<ChartPoint>& points, std::size_t most) {
  INFEROMETER_CHECK(most >= 4, "both ends and one run of points need four places");
  std::vector<std::size_t> places;
  if (points.size() <= most) {
    places.resize(points.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  const std::size_t inner = points.size() - 2;
  const std::size_t runs = (most - 2) / 2;
  const auto by_y = [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; };
  places.push_back(0);
  for (std::size_t run = 0; run < runs; ++run) {
    const auto begin = points.begin() + 1 + static_cast<std::ptrdiff_t>(inner * run / runs);
    const auto end = points.begin() + 1 + static_cast<std::ptrdiff_t>(inner * (run + 1) / runs);
    const auto [lowest, highest] = std::minmax_element(begin, end, by_y);
    places.push_back(static_cast<std::size_t>(std::min(lowest, highest) - points.begin()));
    if (lowest != highest) {
      places.push_back(static_cast<std::size_t>(std::max(lowest, highest) - points.begin()));
    }
  }
  places.push_back(points.size() - 1);
  return places;
}

std::vector<ChartPoint> thinned(std::vector<ChartPoint> points, std::size_t most) {
  const std::vector<std::size_t> places = thinned_places(points, most);
  if (places.size() == points.size()) {
    return points;
  }
  std::vector<ChartPoint> kept;
  kept.reserve(places.size());
  for (const std::size_t place : places) {
    kept.push_back(std::move(points[place]));
  }
  return kept;
}

}  // namespace inferometer
