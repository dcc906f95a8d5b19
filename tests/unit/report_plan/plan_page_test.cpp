#include "sim/report/plan/plan_page.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/report/plan/plan_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/report_plan/sample_plan.hpp"

using namespace inferometer;
using namespace inferometer::test;
using Json = nlohmann::json;

namespace {

template <class T>
std::vector<const T*> blocks_of(const Page& page) {
  std::vector<const T*> found;
  for (const Section& section : page.sections) {
    for (const Block& block : section.blocks) {
      if (const T* one = std::get_if<T>(&block)) {
        found.push_back(one);
      }
    }
  }
  return found;
}

const Chart* chart_of(const Page& page, const std::string& id) {
  for (const Chart* chart : blocks_of<Chart>(page)) {
    if (chart->id == id) {
      return chart;
    }
  }
  return nullptr;
}

const ChartSeries* series_of(const Chart& chart, const std::string& name) {
  for (const ChartSeries& series : chart.series) {
    if (series.name == name) {
      return &series;
    }
  }
  return nullptr;
}

/// The number at "shapes.3.size.cost".
double number_at(const Json& json, const std::string& path) {
  std::string pointer = "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return json.at(Json::json_pointer(pointer)).get<double>();
}

std::size_t check_number(const Json& json, const std::optional<ResultsNumber>& number) {
  if (!number) {
    return 0;
  }
  INFO(number->field);
  CHECK(number_at(json, number->field) == number->value);
  return 1;
}

/// Every number of the page is that of plan.json which it names; how many there are.
std::size_t check_numbers(const PlanResult& plan) {
  const Page page = plan_page(plan, provenance_of("capacity.yaml"));
  const Json json = Json::parse(plan_json(plan, provenance_of("capacity.yaml")));
  std::size_t checked = 0;
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    for (const std::vector<Cell>& row : table->rows) {
      CHECK(row.size() == table->columns.size());
      for (const Cell& cell : row) {
        checked += check_number(json, cell.number);
      }
    }
  }
  for (const auto* figures : blocks_of<std::vector<KeyFigure>>(page)) {
    for (const KeyFigure& figure : *figures) {
      checked += check_number(json, figure.number);
    }
  }
  return checked;
}

}  // namespace

TEST_CASE("a plan's page begins with the answer and its key figures") {
  const Page page = plan_page(plan_with_answer(), provenance_of("capacity.yaml"));
  CHECK(page.title == "capacity.yaml");
  REQUIRE(page.answer.size() >= 3);
  CHECK(page.answer[0].text.find("Buy 3 x (1 x h100-sxm)") == 0);
  CHECK(page.answer[0].tone == Tone::good);
  const auto figures = blocks_of<std::vector<KeyFigure>>(page);
  REQUIRE(figures.size() == 1);
  std::vector<std::string> values;
  for (const KeyFigure& figure : *figures[0]) {
    values.push_back(figure.name + " " + figure.value);
  }
  CHECK(values == std::vector<std::string>{"Cost $8.97/h", "Per million output tokens $0.250", "GPUs 3",
                                           "Power 2.10 kW", "Worst limit: p99 TTFT 23.5 %",
                                           "Headroom 18.3 %"});
  CHECK((*figures[0])[0].remark == "$6,548 a month of 730 h");
  CHECK(page.footer.find("inferometer 1.2.3 from capacity.yaml (sha256:0123456789ab") == 0);
}

TEST_CASE("numbers of a plan's page are those of plan.json") {
  CHECK(check_numbers(plan_with_answer()) > 30);
  CHECK(check_numbers(plan_without_answer()) > 10);
  CHECK(check_numbers(plan_proven_out()) == 2);  // sizes of the two inputs
  CHECK(check_numbers(plan_of_single_shape()) > 5);
  CHECK(check_numbers(plan_of_many(50)) > 50);
}

TEST_CASE("the scatter parts what meets from what misses and draws front and limit") {
  const Page page = plan_page(plan_with_answer(), provenance_of("capacity.yaml"));
  const Chart* chart = chart_of(page, "plan-front");
  REQUIRE(chart != nullptr);
  const ChartSeries* answer = series_of(*chart, "The answer");
  REQUIRE(answer != nullptr);
  REQUIRE(answer->points.size() == 1);
  CHECK(answer->points[0].x == Approx(8.97));
  CHECK(answer->points[0].y == 612);
  CHECK(answer->points[0].label == "3 x h100-sxm, tensor_parallel 1: 3 GPUs, 2.10 kW");
  CHECK(series_of(*chart, "Meets the SLO")->points.size() == 1);
  CHECK(series_of(*chart, "Misses the SLO")->points.size() == 2);
  CHECK(series_of(*chart, "Cannot keep up, or fails requests")->points.size() == 1);
  CHECK(series_of(*chart, "Front")->points.size() == 2);
  CHECK(series_of(*chart, "Front")->is_line);
  REQUIRE(chart->lines.size() == 1);
  CHECK(chart->lines[0].at == 800);
}

TEST_CASE("curves of sustained rates have the traffic and the limit and saturation across them") {
  const Page page = plan_page(plan_with_answer(), provenance_of("capacity.yaml"));
  const Chart* chart = chart_of(page, "plan-rates");
  REQUIRE(chart != nullptr);
  REQUIRE(chart->series.size() == 1);
  REQUIRE(chart->series[0].points.size() == 4);
  CHECK(chart->series[0].name == "3 x h100-sxm, tensor_parallel 1");
  CHECK(chart->series[0].points[1].x == Approx(14.2));
  CHECK(chart->series[0].points[1].y == 788);
  REQUIRE(chart->lines.size() == 3);
  CHECK(chart->lines[1].at == 12);
  CHECK(chart->lines[1].is_vertical);
  CHECK(chart->lines[2].at == 18);  // 1.5 x 12
}

TEST_CASE("bars have a value for each shape") {
  const Page page = plan_page(plan_with_answer(), provenance_of("capacity.yaml"));
  const Chart* cost = chart_of(page, "plan-cost");
  REQUIRE(cost != nullptr);
  CHECK(cost->categories.size() == 2);
  CHECK(cost->series[0].points[1].y == 12);
  const Chart* time = chart_of(page, "plan-time");
  REQUIRE(time != nullptr);
  CHECK(time->categories.size() == 4);
  double whole = 0;
  for (const ChartSeries& series : time->series) {
    REQUIRE(series.points.size() == time->categories.size());
    whole += series.points[0].y;
  }
  CHECK(whole == Approx(100));
  CHECK(series_of(*time, "Communication") == nullptr);
}

TEST_CASE("a warning stands beside the answer and among what is unsure") {
  PlanResult plan = plan_with_answer();
  plan.shapes[1].assessments[1].extrapolated_share = 0.2;
  const Page page = plan_page(plan, provenance_of("capacity.yaml"));
  CHECK(page.answer.back().tone == Tone::warning);
  CHECK(page.answer.back().text.find("20.0 %") == 0);
}

TEST_CASE("charts have names of their own and as many points as they have bars") {
  for (const PlanResult& plan : {plan_with_answer(), plan_without_answer(), plan_proven_out(),
                                 plan_of_single_shape(), plan_of_many(200), PlanResult()}) {
    std::set<std::string> ids;
    const Page page = plan_page(plan, provenance_of("capacity.yaml"));
    for (const Chart* chart : blocks_of<Chart>(page)) {
      CHECK(ids.insert(chart->id).second);
      CHECK_FALSE(chart->series.empty());
      for (const ChartSeries& series : chart->series) {
        if (chart->kind == ChartKind::stacked_bars) {
          CHECK(series.points.size() == chart->categories.size());
        }
      }
    }
    for (const Section& section : page.sections) {
      CHECK_FALSE(section.blocks.empty());
    }
    CHECK_FALSE(html_text(page).empty());
  }
}

TEST_CASE("names of a plan stay text in its page") {
  PlanResult plan = plan_with_answer();
  const std::string hostile = "<script>alert(1)</script>\"'&";
  for (ShapeResult& shape : plan.shapes) {
    shape.name = hostile;
    shape.reason = hostile;
    shape.setup = hostile;
    shape.values = {{hostile, hostile}};
  }
  plan.sensitivity[0] = {hostile, hostile, hostile, hostile, std::nullopt};
  StudyProvenance provenance = provenance_of(hostile);
  provenance.subject = hostile;
  provenance.resolved_study = {{hostile, hostile}};
  provenance.inputs[0].name = hostile;
  const std::string html = html_text(plan_page(plan, provenance));
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert") != std::string::npos);
  CHECK(Json::parse(plan_json(plan, provenance))["shapes"][0]["name"] == hostile);
}

TEST_CASE("a page of 200 shapes stays below 300 kB and is the same again") {
  const PlanResult plan = plan_of_many(200);
  const std::string html = html_text(plan_page(plan, provenance_of("capacity.yaml")));
  const std::string chart_library_and_style = html_text(Page());
  INFO(html.size() << " bytes, " << chart_library_and_style.size() << " of them for any page");
  CHECK(html.size() < 300'000);
  CHECK(html == html_text(plan_page(plan, provenance_of("capacity.yaml"))));
}
