#include "sim/report/page/chart_html.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

Chart chart_of(ChartKind kind) {
  return {"c", "Title", "Summary", kind, {"x, s"}, {"y, ms"}, {}, {}, {}};
}

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) {
    ++count;
  }
  return count;
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

ChartSeries ramp(const std::string& name, int count, double factor) {
  ChartSeries series{name};
  for (int place = 0; place < count; ++place) {
    series.points.push_back({static_cast<double>(place), factor * place, ""});
  }
  return series;
}

}  // namespace

TEST_CASE("series over the same x share the rows of their table") {
  Chart chart = chart_of(ChartKind::lines);
  chart.series = {ramp("a", 3, 1), ramp("b", 3, 10)};
  const std::string html = chart_html(chart, true);
  CHECK(has(html, "<th scope=\"row\">2</th><td class=\"number\">2</td><td class=\"number\">20</td>"));
  CHECK(count_of(html, "<tr>") == 1 + 3);
}

TEST_CASE("series over different x or with labels are listed point by point") {
  Chart chart = chart_of(ChartKind::points);
  chart.series = {ramp("a", 2, 1), ramp("b", 3, 10)};
  chart.series[1].points[2].label = "the last";
  chart.series[1].points[2].weight = 0.75;
  const std::string html = chart_html(chart, true);
  CHECK(count_of(html, "<tr>") == 1 + 5);
  CHECK(has(html,
            "<th scope=\"row\">b</th><td class=\"number\">2</td><td class=\"number\">20</td>"
            "<td class=\"number\">0.75</td><td>the last</td>"));
}

TEST_CASE("bars have a row for each category") {
  Chart chart = chart_of(ChartKind::stacked_bars);
  chart.categories = {"pool a", "pool b"};
  chart.series = {{"compute", {{0, 40, ""}, {0, 30, ""}}}, {"host", {{0, 5, ""}, {0, 6, ""}}}};
  CHECK(has(chart_html(chart, true),
            "<th scope=\"row\">pool b</th><td class=\"number\">30</td><td class=\"number\">6</td>"));
}

TEST_CASE("long tables are thinned, say so, and keep both ends and the extremes") {
  Chart chart = chart_of(ChartKind::lines);
  chart.series = {ramp("a", 10'000, 1), ramp("b", 10'000, 2)};
  chart.series[0].points[4321].y = 777'777;
  chart.series[1].points[1234].y = -888'888;
  const std::string html = chart_html(chart, true);
  CHECK(count_of(html, "<tr>") <= 1 + kChartTableRowsMost + 4);
  CHECK(count_of(html, "<tr>") >= kChartTableRowsMost);
  for (const std::string wanted :
       {">0</th>", ">9999</th>", ">777777</td>", ">-888888</td>", "Not every point"}) {
    CAPTURE(wanted);
    CHECK(has(html, wanted));
  }
  chart.series = {ramp("a", 150, 1)};
  CHECK(!has(chart_html(chart, true), "Not every point"));
  CHECK(count_of(chart_html(chart, true), "<tr>") == 1 + 150);
}

TEST_CASE("lines across a chart are told in words") {
  Chart chart = chart_of(ChartKind::lines);
  chart.series = {ramp("a", 2, 1)};
  chart.lines = {{"limit", 500, true}, {"roof", 0.5}};
  CHECK(has(chart_html(chart, true), "Lines across: limit at 500 (x, s); roof at 0.5 (y, ms)"));
}

TEST_CASE("without a canvas the numbers are unfolded") {
  Chart chart = chart_of(ChartKind::lines);
  chart.series = {ramp("a", 2, 1)};
  CHECK(has(chart_html(chart, true), "<canvas"));
  CHECK(!has(chart_html(chart, true), "<details class=\"numbers\" open>"));
  CHECK(!has(chart_html(chart, false), "<canvas"));
  CHECK(has(chart_html(chart, false), "<details class=\"numbers\" open>"));
}

TEST_CASE("a chart with nothing to draw has a sentence instead") {
  Chart chart = chart_of(ChartKind::lines);
  for (const bool with_canvas : {true, false}) {
    const std::string html = chart_html(chart, with_canvas);
    CHECK(has(html, "There is nothing to draw"));
    CHECK(!has(html, "<canvas"));
    CHECK(has(html, "Summary"));
  }
}

}  // namespace inferometer
