#include "sim/cli/validation_page.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"
#include "sim/validation/predict/metric_kind.hpp"

namespace inferometer {
namespace {

struct KindOfChart {
  MetricKind kind;
  const char* id;
  const char* title;
  const char* axis;
};
constexpr std::array kCharts{
    KindOfChart{MetricKind::per_token, "per-token", "Time per token", "ms"},
    KindOfChart{MetricKind::first_token, "first-token", "Time to the first token", "ms"},
    KindOfChart{MetricKind::end_to_end, "end-to-end", "Whole answers", "ms"},
    KindOfChart{MetricKind::throughput, "throughput", "Throughput", "per second"},
};

/// The series of the value's group, in the order in which groups first occur.
ChartSeries& series_of(std::vector<ChartSeries>& series, const std::string& group) {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const ChartSeries& each) { return each.name == group; });
  if (found != series.end()) {
    return *found;
  }
  series.push_back({group});
  return series.back();
}

Chart agreement(const ValidatedRuns& validated, const KindOfChart& of) {
  Chart chart;
  chart.id = fmt::format("{}-agreement", of.id);
  chart.title = fmt::format("{}: predicted against measured", of.title);
  chart.summary = "Each dot is a figure of a run; on the line predictions agree with measurements.";
  chart.kind = ChartKind::points;
  chart.x = {fmt::format("measured, {}", of.axis), true};
  chart.y = {fmt::format("predicted, {}", of.axis), true};
  double least = std::numeric_limits<double>::max(), most = 0;
  for (const JudgedValue& value : validated.judgement.values) {
    if (kind_of(value.metric) == of.kind && value.is_counted && value.predicted > 0) {
      const MeasuredRun& run = validated.runs[value.run];
      series_of(chart.series, run.group)
          .points.push_back({value.measured, value.predicted, run.name + ", " + value.metric});
      least = std::min({least, value.measured, value.predicted});
      most = std::max({most, value.measured, value.predicted});
    }
  }
  if (!chart.series.empty()) {
    ChartSeries line{"as measured", {{least, least}, {most, most}}};
    line.is_line = true;
    chart.series.push_back(std::move(line));
  }
  return chart;
}

Chart errors_by_load(const ValidatedRuns& validated, const KindOfChart& of) {
  Chart chart;
  chart.id = fmt::format("{}-by-load", of.id);
  chart.title = fmt::format("{}: error by distance to saturation", of.title);
  chart.summary =
      "Each dot is a figure of a run: how far its prediction is off, by the share of the capacity it took.";
  chart.kind = ChartKind::points;
  chart.x = {"share of the capacity, %"};
  chart.y = {"predicted / measured - 1, %"};
  for (const JudgedValue& value : validated.judgement.values) {
    const std::optional<double>& load = validated.predictions[value.run].saturation.load;
    if (kind_of(value.metric) == of.kind && value.is_counted && load) {
      const MeasuredRun& run = validated.runs[value.run];
      series_of(chart.series, run.group)
          .points.push_back({100 * *load, 100 * value.error, run.name + ", " + value.metric});
    }
  }
  chart.lines = {{"as measured", 0}};
  return chart;
}

TableBlock summary_table(const Judgement& judgement) {
  TableBlock table{"Errors by group of runs and metric, in %",
                   {"runs", "metric", "load", "count", "median", "mean", "p90", "bias", "in interval"},
                   {}};
  for (const JudgedGroup& group : judgement.groups) {
    const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
    table.rows.push_back({group.group, group.metric, group.is_saturated ? "saturated" : "below",
                          std::to_string(group.count), percent(group.median_error), percent(group.mean_error),
                          percent(group.p90_error), fmt::format("{:+.1f}", 100 * group.bias),
                          group.within_interval ? percent(*group.within_interval) : "-"});
  }
  return table;
}

}  // namespace

Page validation_page(const ValidatedRuns& validated) {
  Page page;
  page.title = "Predictions of measured runs";
  page.subtitle = fmt::format("{} runs", grouped(static_cast<std::int64_t>(validated.runs.size())));
  page.sections.push_back({"Summary", {summary_table(validated.judgement)}});
  for (const KindOfChart& kind : kCharts) {
    Section section{kind.title, {}};
    for (Chart& chart : std::array{agreement(validated, kind), errors_by_load(validated, kind)}) {
      if (!chart.series.empty()) {
        section.blocks.emplace_back(std::move(chart));
      }
    }
    if (!section.blocks.empty()) {
      page.sections.push_back(std::move(section));
    }
  }
  for (const UnpredictedValue& missing : validated.judgement.missing) {
    page.answer.push_back(
        {fmt::format("Not predicted: {}: {}", validated.runs[missing.run].name, missing.reason),
         Tone::warning});
  }
  page.footer = "inferometer validate";
  return page;
}

}  // namespace inferometer
