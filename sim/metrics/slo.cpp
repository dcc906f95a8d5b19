#include "sim/metrics/slo.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/metrics/summary.hpp"

namespace inferometer {
namespace {

struct MetricName {
  LatencyMetric metric;
  std::string_view name;
  std::string_view title;
};

struct StatisticName {
  LatencyStatistic statistic;
  std::string_view name;
  std::string_view title;
};

constexpr std::array<MetricName, 4> kMetrics = {{
    {LatencyMetric::ttft, "ttft", "time to first token"},
    {LatencyMetric::tpot, "tpot", "time per output token of a request"},
    {LatencyMetric::itl, "itl", "gap between tokens"},
    {LatencyMetric::e2el, "e2el", "latency from arrival to last token"},
}};

// From the one that says most about single requests on; the mean, which says nothing, last.
constexpr std::array<StatisticName, 5> kStatistics = {{
    {LatencyStatistic::p99, "p99", "99th percentile of the "},
    {LatencyStatistic::p95, "p95", "95th percentile of the "},
    {LatencyStatistic::p90, "p90", "90th percentile of the "},
    {LatencyStatistic::p50, "p50", "median of the "},
    {LatencyStatistic::mean, "mean", "mean "},
}};

std::string key_of(LatencyMetric metric, LatencyStatistic statistic) {
  return std::string(to_string(metric)) + "_" + std::string(to_string(statistic));
}

std::optional<Duration> given_limit(const Values& values, std::string_view key) {
  return values.has(key) ? std::optional<Duration>(values.duration(key)) : std::nullopt;
}

std::optional<Duration> request_limit(const Values& values, LatencyMetric metric) {
  if (const auto own = given_limit(values, to_string(metric))) {
    return own;
  }
  for (const StatisticName& statistic : kStatistics) {
    if (statistic.statistic != LatencyStatistic::mean) {
      if (const auto limit = given_limit(values, key_of(metric, statistic.statistic))) {
        return limit;
      }
    }
  }
  return std::nullopt;
}

double value_of(const DurationStatistics& statistics, LatencyStatistic statistic) {
  switch (statistic) {
    case LatencyStatistic::mean:
      return statistics.mean_ms;
    case LatencyStatistic::p50:
      return statistics.p50_ms;
    case LatencyStatistic::p90:
      return statistics.p90_ms;
    case LatencyStatistic::p95:
      return statistics.p95_ms;
    case LatencyStatistic::p99:
      return statistics.p99_ms;
  }
  return 0;
}

}  // namespace

std::string_view to_string(LatencyMetric metric) {
  return std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& m) { return m.metric == metric; })
      ->name;
}

std::string_view to_string(LatencyStatistic statistic) {
  return std::find_if(kStatistics.begin(), kStatistics.end(),
                      [&](const auto& s) { return s.statistic == statistic; })
      ->name;
}

Table slo_table() {
  Table table("slo", "Limits that the run's latencies are held against");
  for (const MetricName& metric : kMetrics) {
    for (const StatisticName& statistic : kStatistics) {
      table
          .add(key_of(metric.metric, statistic.statistic), ValueType::duration,
               "Limit of the " + std::string(statistic.title) + std::string(metric.title))
          .optional("no such limit");
    }
  }
  for (const MetricName& metric : kMetrics) {
    if (metric.metric != LatencyMetric::itl) {
      const std::string name(metric.name);
      table
          .add(name, ValueType::duration,
               "What each request must keep to count as goodput: " + std::string(metric.title))
          .optional("the limit of the highest percentile given for " + name);
    }
  }
  table.add("goodput_min", ValueType::number, "Least share of requests that must keep all per-request limits")
      .optional("no such limit")
      .range("", "1")
      .above("0");
  return table;
}

SloTargets read_slo(const Values& values, Diagnostics& diagnostics) {
  SloTargets slo;
  for (const MetricName& metric : kMetrics) {
    for (const StatisticName& statistic : kStatistics) {
      if (const auto limit = given_limit(values, key_of(metric.metric, statistic.statistic))) {
        slo.targets.push_back({metric.metric, statistic.statistic, *limit});
      }
    }
  }
  slo.request = {request_limit(values, LatencyMetric::ttft), request_limit(values, LatencyMetric::tpot),
                 request_limit(values, LatencyMetric::e2el)};
  if (values.has("goodput_min")) {
    slo.goodput_min = values.number("goodput_min");
    if (!slo.request.any()) {
      diagnostics.add(values.where("goodput_min"),
                      "goodput_min needs something that a request could miss: give ttft, tpot or e2el "
                      "(or a percentile of one of them), e.g. \"ttft: 500 ms\"");
    }
  }
  return slo;
}

bool SloReport::all_met() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const SloVerdict& verdict) { return verdict.met; });
}

SloReport evaluate(const SloTargets& targets, const Summary& summary) {
  SloReport report;
  for (const SloTarget& target : targets.targets) {
    SloVerdict verdict;
    verdict.name = key_of(target.metric, target.statistic);
    verdict.limit = to_milliseconds(target.limit);
    if (const DurationStatistics* statistics = summary.find(target.metric)) {
      verdict.value = value_of(*statistics, target.statistic);
      verdict.met = *verdict.value <= verdict.limit;
      verdict.over = *verdict.value / verdict.limit - 1;
    }
    report.verdicts.push_back(std::move(verdict));
  }
  if (targets.goodput_min) {
    SloVerdict verdict{"goodput", summary.goodput_share, *targets.goodput_min, false, std::nullopt};
    if (verdict.value) {
      verdict.met = *verdict.value >= verdict.limit;
      verdict.over = *verdict.value / verdict.limit - 1;
    }
    report.verdicts.push_back(std::move(verdict));
  }
  return report;
}

}  // namespace inferometer
