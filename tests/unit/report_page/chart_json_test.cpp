#include "sim/report/page/chart_json.hpp"

#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

Chart lines_chart(std::vector<ChartPoint> points) {
  Chart chart{"c", "title", "summary", ChartKind::lines, {"x, s"}, {"y, ms"}, {}, {}, {}};
  chart.series.push_back({"one", std::move(points)});
  return chart;
}

nlohmann::json parsed(const Chart& chart) {
  return nlohmann::json::parse(chart_json(chart));
}

}  // namespace

TEST_CASE("a chart's numbers and names are all in its JSON") {
  Chart chart = lines_chart({{0.1, 1.0 / 3, ""}, {2, -4e-7, "a point"}});
  chart.series.push_back({"two", {{1, 2, "", 0.25}}, true, true, 5});
  chart.lines = {{"limit", 500.125, true}, {"roof", 3}};
  chart.y.is_log = false;
  const auto json = parsed(chart);
  CHECK(json["id"] == "c");
  CHECK(json["kind"] == "lines");
  CHECK(json["x"] == nlohmann::json({{"label", "x, s"}, {"log", false}}));
  CHECK(json["series"][0]["x"] == nlohmann::json({0.1, 2.0}));
  CHECK(json["series"][0]["y"] == nlohmann::json({1.0 / 3, -4e-7}));
  CHECK(json["series"][0]["labels"] == nlohmann::json({"", "a point"}));
  CHECK(!json["series"][0].contains("weights"));
  CHECK((json["series"][0]["colour"] == 0 && json["series"][1]["colour"] == 5));
  CHECK((json["series"][1]["dashed"] == true && json["series"][1]["line"] == true));
  CHECK(json["series"][1]["weights"] == nlohmann::json({0.25}));
  CHECK(json["lines"][0] == nlohmann::json({{"name", "limit"}, {"at", 500.125}, {"vertical", true}}));
  CHECK(json["lines"][1]["vertical"] == false);
}

TEST_CASE("points that a logarithmic axis cannot show are not drawn") {
  Chart chart = lines_chart({{0, 1, ""}, {1, 0, ""}, {2, 2, ""}, {-1, 3, ""}});
  CHECK(parsed(chart)["series"][0]["x"].size() == 4);
  chart.x.is_log = true;
  CHECK(parsed(chart)["series"][0]["x"] == nlohmann::json({1.0, 2.0}));
  chart.y.is_log = true;
  CHECK(parsed(chart)["series"][0]["x"] == nlohmann::json({2.0}));
  CHECK(has_drawn_points(chart));
  chart.series[0].points.erase(chart.series[0].points.begin() + 2);
  CHECK(!has_drawn_points(chart));
  CHECK(!has_drawn_points(lines_chart({})));
}

TEST_CASE("long series are thinned and keep their peak") {
  std::vector<ChartPoint> points;
  for (int place = 0; place < 100'000; ++place) {
    points.push_back({static_cast<double>(place), place == 77'777 ? 5.0 : 1.0, ""});
  }
  const auto series = parsed(lines_chart(points))["series"][0];
  CHECK(series["x"].size() <= kDrawnPointsMost);
  CHECK((series["x"].front() == 0.0 && series["x"].back() == 99'999.0));
  const auto peak = std::find(series["y"].begin(), series["y"].end(), 5.0);
  REQUIRE(peak != series["y"].end());
  CHECK(series["x"][static_cast<std::size_t>(peak - series["y"].begin())] == 77'777.0);
}

TEST_CASE("numbers that are none and bars that do not fit are refused") {
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    CHECK_THROWS_AS(chart_json(lines_chart({{wrong, 1, ""}})), std::logic_error);
    CHECK_THROWS_AS(chart_json(lines_chart({{1, wrong, ""}})), std::logic_error);
    CHECK_THROWS_AS(chart_json(lines_chart({{1, 1, "", wrong}})), std::logic_error);
    Chart chart = lines_chart({{1, 1, ""}});
    chart.lines = {{"limit", wrong}};
    CHECK_THROWS_AS(chart_json(chart), std::logic_error);
  }
  CHECK_THROWS_AS(chart_json(lines_chart({{1, 1, "", -1}})), std::logic_error);
  Chart bars = lines_chart({{0, 1, ""}, {0, 2, ""}});
  bars.kind = ChartKind::stacked_bars;
  bars.categories = {"only one"};
  CHECK_THROWS_AS(chart_json(bars), std::logic_error);
  bars.categories = {"one", "two"};
  CHECK(parsed(bars)["series"][0]["y"] == nlohmann::json({1.0, 2.0}));
}

}  // namespace inferometer
