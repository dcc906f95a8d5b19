// Latencies: statistics in a table, distributions as curves.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

struct Statistic {
  const char* name;
  double DurationStatistics::*value;
};
constexpr std::array<Statistic, 6> kStatistics = {{{"mean", &DurationStatistics::mean_ms},
                                                   {"p50", &DurationStatistics::p50_ms},
                                                   {"p90", &DurationStatistics::p90_ms},
                                                   {"p95", &DurationStatistics::p95_ms},
                                                   {"p99", &DurationStatistics::p99_ms},
                                                   {"max", &DurationStatistics::max_ms}}};

void add_row(const Report& report, const std::string& metric,
             const std::optional<DurationStatistics>& statistics, TableBlock& table) {
  if (!statistics) {
    return;
  }
  std::vector<Cell> row = {latency_name(metric)};
  std::vector<Cell> bounds = {latency_name(metric) + ", interval"};
  bool has_bounds = false;
  for (const Statistic& statistic : kStatistics) {
    const std::string name = fmt::format("{}_{}_ms", statistic.name, metric);
    const double ms = (*statistics).*statistic.value;
    row.push_back(cell(short_number(ms), "metrics." + name, ms));
    const std::optional<std::string> found = interval(report, name);
    has_bounds = has_bounds || found;
    bounds.emplace_back(found.value_or("-"));
  }
  table.rows.push_back(std::move(row));
  if (has_bounds) {
    table.rows.push_back(std::move(bounds));
  }
}

TableBlock latency_table(const Report& report) {
  const Summary& summary = report.summary;
  TableBlock table{"Latencies in ms", {"latency"}, {}};
  for (const Statistic& statistic : kStatistics) {
    table.columns.emplace_back(statistic.name);
  }
  add_row(report, "ttft", summary.ttft, table);
  add_row(report, "itl", summary.itl, table);
  if (summary.definitions == MetricDefinitions::aiperf) {
    add_row(report, "icl", summary.icl, table);
  }
  add_row(report, "tpot", summary.tpot, table);
  add_row(report, "e2el", summary.e2el, table);
  add_row(report, "queue_delay", summary.queue_delay, table);
  return table;
}

/// The metrics of the SLO that a curve is of. By AIPerf's definitions ITL is what is called TPOT elsewhere,
/// and the gaps have no limits.
bool is_of(const LatencyCdf& curve, std::string_view metric, MetricDefinitions definitions) {
  if (metric == "itl") {
    return curve.metric == (definitions == MetricDefinitions::aiperf ? "tpot" : "gaps");
  }
  return curve.metric == metric;
}

std::string curve_name(const LatencyCdf& curve, MetricDefinitions definitions) {
  if (curve.metric != "gaps") {
    return latency_name(curve.metric);
  }
  return definitions == MetricDefinitions::aiperf ? "ICL" : "ITL";
}

void add_limits(const Report& report, const LatencyCdf& curve, const RequestLimits& each, Chart& chart) {
  for (const SloVerdict& verdict : report.slo.verdicts) {
    const std::string_view metric = std::string_view(verdict.name).substr(0, verdict.name.find('_'));
    if (!verdict.is_share() && is_of(curve, metric, report.summary.definitions)) {
      chart.lines.push_back({verdict.name + " limit " + short_duration(verdict.limit), verdict.limit, true});
    }
  }
  const std::optional<Duration> limit = curve.metric == "ttft"   ? each.ttft
                                        : curve.metric == "tpot" ? each.tpot
                                        : curve.metric == "e2el" ? each.e2el
                                                                 : std::nullopt;
  const auto is_drawn = [&](double ms) {
    return std::any_of(chart.lines.begin(), chart.lines.end(),
                       [&](const ChartLine& line) { return line.at == ms; });
  };
  if (limit && !is_drawn(to_milliseconds(*limit))) {
    const double ms = to_milliseconds(*limit);
    chart.lines.push_back({"limit of each request " + short_duration(ms), ms, true});
  }
}

Chart cdf_chart(const Report& report, const LatencyCdf& curve, const RequestLimits& each) {
  const std::string name = curve_name(curve, report.summary.definitions);
  const bool is_gap = curve.metric == "gaps";
  Chart chart;
  chart.id = curve.metric + "-cdf";
  chart.title = is_gap ? name + ": gaps between tokens, over all requests" : name + " of requests";
  chart.summary = fmt::format(
      "Share of {} {} at most so many milliseconds. Drawn from a histogram, within 0.2 % of each value.",
      counted(curve.count, is_gap ? "gap" : "request"), is_gap ? "that take" : "whose " + name + " is");
  chart.x = {name + ", ms", true};
  chart.y = {is_gap ? "share of gaps, %" : "share of requests, %"};
  ChartSeries series{name};
  for (const CdfPoint& point : curve.points) {
    series.points.push_back({point.ms, 100 * point.share});
  }
  chart.series.push_back(std::move(series));
  add_limits(report, curve, each, chart);
  return chart;
}

}  // namespace

Section latency_section(const Report& report, const RunCharts& charts) {
  const Summary& summary = report.summary;
  Section section{"Latency", {}};
  if (summary.completed == 0) {
    section.blocks.emplace_back(Paragraph{"No request finished, so none has a latency.", Tone::warning});
    return section;
  }
  if (summary.completed == 1) {
    section.blocks.emplace_back(
        Paragraph{"One request finished: its latencies are all there is, and each "
                  "percentile is the same value."});
  }
  if (summary.stability.verdict == QueueStability::unstable) {
    section.blocks.emplace_back(Paragraph{
        "No steady state: TTFT, E2E latency and queue delay grow with the length of the run.", Tone::bad});
  }
  section.blocks.emplace_back(latency_table(report));
  if (!summary.tpot) {
    section.blocks.emplace_back(
        Paragraph{"No request emitted a second token, so there are no gaps between tokens."});
  }
  for (const LatencyCdf& curve : charts.latency) {
    section.blocks.emplace_back(cdf_chart(report, curve, charts.limits));
  }
  return section;
}

}  // namespace inferometer
