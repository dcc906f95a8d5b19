#pragma once

// Service-level objectives: limits on the statistics of a run, and on each request for goodput.

#include <optional>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace inferometer {

struct Summary;

enum class LatencyMetric { ttft, tpot, itl, e2el };
enum class LatencyStatistic { mean, p50, p90, p95, p99 };

/// "ttft", "p99": as in keys of the scenario and of results.json.
std::string_view to_string(LatencyMetric metric);
std::string_view to_string(LatencyStatistic statistic);

struct SloTarget {
  LatencyMetric metric{};
  LatencyStatistic statistic{};
  Duration limit;
};

/// What each request must meet to be good. An absent limit is met by all.
struct RequestLimits {
  std::optional<Duration> ttft, tpot, e2el;

  [[nodiscard]] bool any() const { return ttft || tpot || e2el; }
};

struct SloTargets {
  std::vector<SloTarget> targets;  ///< in the order of the table
  /// As given; for a metric without a limit of its own, the limit of its highest percentile target (p99
  /// before p95, p90, p50; a limit on the mean says nothing of single requests).
  RequestLimits request;
  std::optional<double> goodput_min;  ///< least share of requests that must meet `request`
};

/// Section `slo` of a scenario: ttft|tpot|itl|e2el _ mean|p50|p90|p95|p99, per-request ttft, tpot, e2el, and
/// goodput_min. All optional.
Table slo_table();

/// Adds a mistake when goodput_min is given but nothing that a request could miss.
SloTargets read_slo(const Values& values, Diagnostics& diagnostics);

struct SloVerdict {
  std::string name;  ///< "ttft_p99", "goodput"
  std::optional<double>
      value;         ///< milliseconds, or a share for goodput; absent when there was nothing to measure
  double limit = 0;  ///< in the same unit
  bool met = false;  ///< false without a value
  /// value / limit - 1; for latencies above 0 is too much, for goodput below 0 too little. Absent without a
  /// value.
  std::optional<double> over;

  [[nodiscard]] bool is_share() const { return name == "goodput"; }
  [[nodiscard]] std::string_view unit() const { return is_share() ? "share" : "ms"; }
};

struct SloReport {
  std::vector<SloVerdict> verdicts;
  [[nodiscard]] bool all_met() const;
};

SloReport evaluate(const SloTargets& targets, const Summary& summary);

}  // namespace inferometer
