#include "sim/report/compare/compare_charts.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/study/outcome.hpp"

namespace inferometer {
namespace {

/// How far beyond the fastest variant a capacity is still drawn.
constexpr double kFarthestCapacity = 1.15;

std::string id_of(const std::string& name) {
  std::string id = name;
  std::replace(id.begin(), id.end(), '_', '-');
  return id;
}

std::string upper(std::string_view latency) {
  return metric_words("p99_" + std::string(latency) + "_ms").title.substr(4);
}

double limit_ms(const SloTarget& target) {
  return to_seconds(target.limit) * 1e3;
}

const std::vector<SloTarget>& targets_of(const CompareReport& report, std::size_t load) {
  return report.study->scenario(load, 0).slo.targets;
}

/// Where variants saturate, by the estimates under the last load.
void add_capacities(const CompareReport& report, double fastest, Chart& chart) {
  const LoadResult& load = report.result.loads.back();
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    const std::optional<double> capacity = load.variants[i].mean("capacity_requests_per_s");
    if (capacity && *capacity <= kFarthestCapacity * fastest) {
      chart.lines.push_back({"capacity of " + report.study->variants[i], *capacity, true});
    }
  }
}

std::string point_label(const CompareReport& report, std::size_t load, const VariantResult& result,
                        double value) {
  std::string label = fmt::format("{}: {}", report.study->loads[load].name, short_duration(value));
  if (const std::optional<double> share = result.mean("load_share")) {
    label += fmt::format(", load {:.0f} %", 100 * *share);
  }
  return label + (result.is_unstable() ? ", queue grows" : "");
}

}  // namespace

std::optional<Chart> rate_chart(const CompareReport& report, LatencyMetric metric,
                                LatencyStatistic statistic) {
  const CompareStudy& study = *report.study;
  const std::string name = fmt::format("{}_{}_ms", to_string(statistic), to_string(metric));
  const std::string title = metric_words(name).title;
  Chart chart;
  chart.id = "rates-" + id_of(name);
  chart.title = title + " against throughput";
  chart.summary = "A line a variant, from the lowest load to the highest";
  chart.x = {"request throughput, req/s", false};
  chart.y = {title + ", ms", true};
  double fastest = 0;
  std::size_t longest = 0;
  for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
    ChartSeries series{study.variants[variant]};
    series.colour = static_cast<int>(variant);
    for (std::size_t load = 0; load < report.result.loads.size(); ++load) {
      const VariantResult& result = report.result.loads[load].variants[variant];
      const std::optional<double> throughput = result.mean("request_throughput");
      const std::optional<double> latency = result.mean(name);
      if (throughput && latency) {
        series.points.push_back({*throughput, *latency, point_label(report, load, result, *latency)});
        fastest = std::max(fastest, *throughput);
      }
    }
    longest = std::max(longest, series.points.size());
    chart.series.push_back(std::move(series));
  }
  if (longest < 2) {
    return std::nullopt;
  }
  for (const SloTarget& target : targets_of(report, 0)) {
    if (target.metric == metric && target.statistic == statistic) {
      chart.lines.push_back({"limit " + short_duration(limit_ms(target)), limit_ms(target), false});
    }
  }
  add_capacities(report, fastest, chart);
  return chart;
}

std::optional<Chart> distribution_chart(const CompareReport& report, std::size_t load, LatencyMetric metric) {
  const CompareStudy& study = *report.study;
  const std::string latency(to_string(metric));
  const std::string title = upper(latency);
  Chart chart;
  chart.id = fmt::format("{}-cdf-{}", latency, load);
  chart.title = fmt::format("{} of {}", title, metric == LatencyMetric::itl ? "tokens" : "requests");
  chart.summary = fmt::format("Share of {} that take up to the value below, a line a variant",
                              metric == LatencyMetric::itl ? "gaps between tokens" : "requests");
  chart.x = {title + ", ms", true};
  chart.y = {"share, %", false};
  const std::vector<double>& shares = curve_shares();
  for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
    for (const LatencyCurve& curve : report.result.loads[load].variants[variant].curves) {
      if (curve.metric != metric) {
        continue;
      }
      ChartSeries series{study.variants[variant]};
      series.colour = static_cast<int>(variant);
      for (std::size_t i = 0; i < std::min(shares.size(), curve.values_ms.size()); ++i) {
        series.points.push_back({curve.values_ms[i], 100 * shares[i]});
      }
      chart.series.push_back(std::move(series));
    }
  }
  if (chart.series.empty()) {
    return std::nullopt;
  }
  for (const SloTarget& target : targets_of(report, load)) {
    if (target.metric == metric) {
      chart.lines.push_back(
          {fmt::format("{} limit {}", to_string(target.statistic), short_duration(limit_ms(target))),
           limit_ms(target), true});
    }
  }
  return chart;
}

Chart time_chart(const CompareReport& report, std::size_t load) {
  struct Part {
    const char* name;
    double TimeSplit::*share;
  };
  static constexpr std::array<Part, 7> kParts = {{{"compute", &TimeSplit::compute},
                                                  {"bandwidth", &TimeSplit::bandwidth},
                                                  {"latency", &TimeSplit::latency},
                                                  {"communication", &TimeSplit::communication},
                                                  {"host", &TimeSplit::host},
                                                  {"bubble", &TimeSplit::bubble},
                                                  {"idle", &TimeSplit::idle}}};
  Chart chart;
  chart.id = fmt::format("time-{}", load);
  chart.title = "Where time went";
  chart.summary =
      "Shares of the replicas' time by what they waited for, a bar a variant: compute, memory bandwidth, "
      "start "
      "of kernels (latency), communication, host, another stage of a pipeline (bubble), requests (idle)";
  chart.kind = ChartKind::stacked_bars;
  chart.y = {"share of time, %", false};
  const std::vector<VariantResult>& variants = report.result.loads[load].variants;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].error.empty()) {
      chart.categories.push_back(report.study->variants[i]);
    }
  }
  for (const Part& part : kParts) {
    ChartSeries series{part.name};
    for (const VariantResult& variant : variants) {
      if (variant.error.empty()) {
        series.points.push_back({0, 100 * variant.time_split.*part.share});
      }
    }
    if (std::any_of(series.points.begin(), series.points.end(),
                    [](const ChartPoint& point) { return point.y > 0; })) {
      chart.series.push_back(std::move(series));
    }
  }
  return chart;
}

std::optional<Chart> metric_chart(const CompareReport& report, std::string_view metric) {
  const MetricWords words = metric_words(metric);
  Chart chart;
  chart.id = "bars-" + id_of(std::string(metric));
  chart.title = words.title;
  chart.summary = "A bar a variant under a load";
  chart.kind = ChartKind::stacked_bars;
  chart.y = {metric_heading(metric), false};
  ChartSeries series{words.title};
  for (const LoadResult& load : report.result.loads) {
    for (std::size_t i = 0; i < load.variants.size(); ++i) {
      if (const std::optional<double> value = load.variants[i].mean(metric)) {
        chart.categories.push_back(report.study->variants[i] + (load.name.empty() ? "" : ", " + load.name));
        series.points.push_back({0, words.per_unit * *value});
      }
    }
  }
  if (chart.categories.empty()) {
    return std::nullopt;
  }
  chart.series.push_back(std::move(series));
  return chart;
}

}  // namespace inferometer
