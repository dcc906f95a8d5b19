#include "sim/report/run/run_charts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Ranks = std::vector<std::int64_t>;

TEST_CASE("few values are all drawn") {
  CHECK(cdf_ranks(1) == Ranks{0});
  CHECK(cdf_ranks(2) == Ranks{0, 1});
  Ranks all(100);
  std::iota(all.begin(), all.end(), 0);
  CHECK(cdf_ranks(100) == all);
}

// 90 hundredths from 0 on, 90 thousandths, 45 fifths of a thousandth, 11 ten-thousandths with the last.
TEST_CASE("many values are drawn denser towards their end") {
  const Ranks ranks = cdf_ranks(1'000'000);
  CHECK(ranks.size() == 90 + 90 + 45 + 11);
  CHECK(std::is_sorted(ranks.begin(), ranks.end()));
  CHECK(std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end());
  CHECK(ranks.front() == 0);
  CHECK(ranks.back() == 999'999);
  for (const std::int64_t share : {500'000, 900'000, 990'000, 999'000, 999'900}) {
    CHECK(std::binary_search(ranks.begin(), ranks.end(), share - 1));
  }
}

// Values 1 to 1000 ms: at the k-th of them k thousandths, but for a sketch's error.
TEST_CASE("a curve has the share at or below each value") {
  DurationDistribution values(Percentiles::exact);
  for (std::int64_t ms = 1000; ms >= 1; --ms) {
    values.add(milliseconds(ms));
  }
  const LatencyCdf curve = latency_curve("ttft", values);
  CHECK(curve.metric == "ttft");
  CHECK(curve.count == 1000);
  REQUIRE(curve.points.size() > 150);
  for (const CdfPoint& point : curve.points) {
    CHECK(point.ms == Approx(1000 * point.share).epsilon(DurationDistribution::kSketchError));
  }
  CHECK(curve.points.front().share == 0.001);
  CHECK(curve.points.back().ms <= 1000);
  CHECK(curve.points.back().share == 1);
}

TEST_CASE("a curve of nothing has no points") {
  const LatencyCdf curve = latency_curve("ttft", DurationDistribution(Percentiles::sketch));
  CHECK(curve.count == 0);
  CHECK(curve.points.empty());
}

}  // namespace
}  // namespace inferometer
