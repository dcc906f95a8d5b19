#include "sim/report/plan/plan_charts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// Points of shapes beyond so many say no more of the front, and make a page long.
constexpr std::size_t kShapesOfFront = 25;
/// Bars, and lines, that one can still tell apart.
constexpr std::size_t kBars = 16;
constexpr std::size_t kCurves = 6;

/// Shapes of which anything was run, sized_shapes() first.
std::vector<std::size_t> simulated_shapes(const PlanResult& plan) {
  std::vector<std::size_t> shapes = sized_shapes(plan);
  for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
    const ShapeResult& result = plan.shapes[shape];
    if (!shown_place(plan, shape) && (!result.assessments.empty() || result.sustained)) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

std::string left_out(std::size_t all, std::size_t most) {
  return all <= most ? std::string()
                     : fmt::format(" {} more are left out.", grouped(static_cast<std::int64_t>(all - most)));
}

ChartAxis cost_axis(Objective objective) {
  switch (objective) {
    case Objective::dollars_per_hour:
      return {"Cost, $/h"};
    case Objective::gpus:
      return {"GPUs"};
    case Objective::watts:
      return {"Power, W"};
  }
  return {};
}

ChartAxis latency_axis(const PlanResult& plan) {
  return {metric_in_words(plan.latency_axis) + ", ms", true};
}

/// The limit that the SLO has for the plan's latency, of any assessment.
std::optional<double> axis_limit(const PlanResult& plan) {
  for (const ShapeResult& shape : plan.shapes) {
    for (const Assessment& assessment : shape.assessments) {
      for (const TargetResult& target : assessment.targets) {
        if (metric_of_target(target.name) == plan.latency_axis) {
          return target.limit;
        }
      }
    }
  }
  return std::nullopt;
}

void add_limit(const PlanResult& plan, Chart& chart) {
  if (const std::optional<double> limit = axis_limit(plan)) {
    chart.lines.push_back({metric_in_words(plan.latency_axis) + " limit", *limit, false});
  }
}

std::string size_label(const PlanResult& plan, AssessmentPlace place) {
  const Size& size = at(plan, place).size;
  return fmt::format("{} x {}: {}, {}", grouped(size.units), plan.shapes[place.shape].name,
                     counted(size.gpus, "GPU"), power_in_words(size.watts));
}

std::optional<ChartPoint> front_point(const PlanResult& plan, AssessmentPlace place) {
  const std::optional<double> latency = at(plan, place).find(plan.latency_axis);
  return latency ? std::optional(ChartPoint{at(plan, place).size.cost, *latency, size_label(plan, place)})
                 : std::nullopt;
}

void add_if_any(Chart& chart, ChartSeries series) {
  if (!series.points.empty()) {
    chart.series.push_back(std::move(series));
  }
}

/// The lower a level, the nearer to what is bought.
std::size_t series_of(const PlanResult& plan, AssessmentPlace place) {
  if (place == answer_place(plan)) {
    return 0;
  }
  const Verdict verdict = at(plan, place).verdict;
  return verdict == Verdict::meets ? 1 : verdict == Verdict::misses_slo ? 2 : 3;
}

ChartSeries front_line(const PlanResult& plan) {
  ChartSeries line{"Front"};
  line.is_line = true;
  line.is_dashed = true;
  for (const auto& [shape, assessment] : plan.front) {
    if (const std::optional<ChartPoint> point = front_point(plan, {shape, assessment})) {
      line.points.push_back(*point);
    }
  }
  return line;
}

std::string rate_label(const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  return verdict_in_words(assessment.verdict) + (worst != nullptr ? ": " + target_in_brief(*worst) : "");
}

ChartSeries rate_curve(const PlanResult& plan, std::size_t shape) {
  const std::vector<Assessment>& tried = plan.shapes[shape].sustained->tried;
  ChartSeries curve{grouped(tried.front().size.units) + " x " + plan.shapes[shape].name};
  for (const Assessment& assessment : tried) {
    if (const std::optional<double> latency = assessment.find(plan.latency_axis)) {
      curve.points.push_back({assessment.offered_per_second, *latency, rate_label(assessment)});
    }
  }
  return curve;
}

/// The lowest rate that was tried at which the queue grew.
std::optional<double> saturation_of(const SustainedRate& rate) {
  for (const Assessment& assessment : rate.tried) {
    if (is_saturated(assessment)) {
      return assessment.offered_per_second;
    }
  }
  return std::nullopt;
}

struct TimePart {
  const char* name;
  double TimeSplit::*share;
};
constexpr std::array<TimePart, 7> kTimeParts = {{{"Compute", &TimeSplit::compute},
                                                 {"Bandwidth", &TimeSplit::bandwidth},
                                                 {"Communication", &TimeSplit::communication},
                                                 {"Kernel start-up", &TimeSplit::latency},
                                                 {"Host", &TimeSplit::host},
                                                 {"Bubble", &TimeSplit::bubble},
                                                 {"Idle", &TimeSplit::idle}}};

/// What short names of bars are made of: "units x gpu / tensor_parallel".
std::string units_axis(const PlanResult& plan) {
  std::string label;
  for (const std::string& key : keys_that_vary(plan)) {
    label += (label.empty() ? "" : " / ") + key;
  }
  return "units x " + (label.empty() ? "shape" : label);
}

std::string curve_name(LatencyMetric metric) {
  return metric == LatencyMetric::ttft ? "TTFT" : metric == LatencyMetric::itl ? "ITL" : "E2E";
}

}  // namespace

std::optional<Chart> front_chart(const PlanResult& plan) {
  const std::vector<std::size_t> shapes = simulated_shapes(plan);
  std::array<ChartSeries, 4> series = {
      {{"The answer"}, {"Meets the SLO"}, {"Misses the SLO"}, {"Cannot keep up, or fails requests"}}};
  for (std::size_t i = 0; i < std::min(shapes.size(), kShapesOfFront); ++i) {
    for (std::size_t j = 0; j < plan.shapes[shapes[i]].assessments.size(); ++j) {
      const AssessmentPlace place{shapes[i], j};
      if (const std::optional<ChartPoint> point = front_point(plan, place)) {
        series[series_of(plan, place)].points.push_back(*point);
      }
    }
  }
  Chart chart;
  chart.id = "plan-front";
  chart.title = "Cost against " + metric_in_words(plan.latency_axis);
  chart.summary = fmt::format(
      "Each point is a size of a shape that was simulated: to the left is cheaper, further down is faster.{}",
      left_out(shapes.size(), kShapesOfFront));
  chart.kind = ChartKind::points;
  chart.x = cost_axis(plan.objective);
  chart.y = latency_axis(plan);
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].colour = static_cast<int>(i);
    add_if_any(chart, std::move(series[i]));
  }
  if (chart.series.empty()) {
    return std::nullopt;
  }
  if (plan.front.size() > 1) {
    add_if_any(chart, front_line(plan));
  }
  add_limit(plan, chart);
  return chart;
}

std::optional<Chart> rate_chart(const PlanResult& plan) {
  Chart chart;
  chart.id = "plan-rates";
  chart.title = metric_in_words(plan.latency_axis) + " against the rate of requests";
  chart.x = {"Offered requests per second"};
  chart.y = latency_axis(plan);
  std::size_t curves = 0;
  for (const std::size_t shape : simulated_shapes(plan)) {
    if (plan.shapes[shape].sustained && !plan.shapes[shape].sustained->tried.empty() && ++curves <= kCurves) {
      add_if_any(chart, rate_curve(plan, shape));
    }
  }
  if (chart.series.empty()) {
    return std::nullopt;
  }
  chart.summary =
      "How the latency rises with the traffic, up to where the queue grows: beyond that it is no steady "
      "state." +
      left_out(curves, kCurves);
  add_limit(plan, chart);
  if (const std::optional<AssessmentPlace> answer = answer_place(plan)) {
    chart.lines.push_back({"traffic", at(plan, *answer).offered_per_second, true});
    const std::optional<SustainedRate>& rate = plan.shapes[answer->shape].sustained;
    const std::optional<double> saturation = rate ? saturation_of(*rate) : std::nullopt;
    if (saturation) {
      chart.lines.push_back({"the answer's queue grows", *saturation, true});
    }
  }
  return chart;
}

std::optional<Chart> cost_chart(const PlanResult& plan) {
  const std::vector<std::size_t> shapes = shapes_that_meet(plan);
  if (shapes.size() < 2) {
    return std::nullopt;
  }
  Chart chart;
  chart.id = "plan-cost";
  chart.title = "What the smallest size that meets the SLO takes";
  chart.summary = "A bar for each shape that meets the SLO, cheapest first: " + units_axis(plan) + "." +
                  left_out(shapes.size(), kBars);
  chart.kind = ChartKind::stacked_bars;
  chart.x = {units_axis(plan)};
  chart.y = cost_axis(plan.objective);
  const std::vector<std::string> keys = keys_that_vary(plan);
  ChartSeries costs{chart.y.label};
  for (std::size_t i = 0; i < std::min(shapes.size(), kBars); ++i) {
    const AssessmentPlace place = *shown_place(plan, shapes[i]);
    chart.categories.push_back(short_name(plan.shapes[shapes[i]], at(plan, place).size.units, keys));
    costs.points.push_back({0, at(plan, place).size.cost, size_label(plan, place)});
  }
  chart.series.push_back(std::move(costs));
  return chart;
}

std::optional<Chart> time_chart(const PlanResult& plan) {
  const std::vector<std::size_t> shapes = sized_shapes(plan);
  Chart chart;
  chart.id = "plan-time";
  chart.title = "Where the time went";
  chart.summary =
      "What the GPUs waited for, in percent of the time for which they were there, cheapest shape first: " +
      units_axis(plan) + "." + left_out(shapes.size(), kBars);
  chart.kind = ChartKind::stacked_bars;
  chart.x = {units_axis(plan)};
  chart.y = {"Share of the time, %"};
  const std::vector<std::string> keys = keys_that_vary(plan);
  std::vector<const TimeSplit*> splits;
  for (std::size_t i = 0; i < std::min(shapes.size(), kBars); ++i) {
    const AssessmentPlace place = *shown_place(plan, shapes[i]);
    chart.categories.push_back(short_name(plan.shapes[shapes[i]], at(plan, place).size.units, keys));
    splits.push_back(&at(plan, place).time_split);
  }
  for (std::size_t part = 0; part < kTimeParts.size(); ++part) {
    ChartSeries series{kTimeParts[part].name};
    series.colour = static_cast<int>(part);
    double sum = 0;
    for (const TimeSplit* split : splits) {
      series.points.push_back({0, 100 * split->*kTimeParts[part].share});
      sum += series.points.back().y;
    }
    if (sum > 0) {
      chart.series.push_back(std::move(series));
    }
  }
  return chart.series.empty() ? std::nullopt : std::optional(std::move(chart));
}

std::optional<Chart> latency_chart(const PlanResult& plan) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  if (!answer || at(plan, *answer).curves.empty()) {
    return std::nullopt;
  }
  Chart chart;
  chart.id = "plan-latency";
  chart.title = "Latencies of the answer";
  chart.summary =
      "For each latency the share of requests (of gaps between tokens, for ITL) that stay below it; of the "
      "first seed.";
  chart.x = {"Latency, ms", true};
  chart.y = {"Share below, %"};
  const std::vector<double>& shares = curve_shares();
  for (const LatencyCurve& curve : at(plan, *answer).curves) {
    ChartSeries series{curve_name(curve.metric)};
    for (std::size_t i = 0; i < std::min(shares.size(), curve.values_ms.size()); ++i) {
      series.points.push_back({curve.values_ms[i], 100 * shares[i]});
    }
    add_if_any(chart, std::move(series));
  }
  for (const TargetResult& target : at(plan, *answer).targets) {
    if (metric_of_target(target.name) != target.name && target.name != "goodput") {
      chart.lines.push_back({target_in_words(target.name) + " limit", target.limit, true});
    }
  }
  return chart;
}

}  // namespace inferometer
