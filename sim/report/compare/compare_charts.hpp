#pragma once

// The charts of a comparison's page.

#include <optional>
#include <string_view>

#include "sim/metrics/slo.hpp"
#include "sim/report/compare/compare_report.hpp"
#include "sim/report/page/page.hpp"

namespace inferometer {

/// A latency of each variant over its request throughput, rate by rate, with the limit that the baseline's
/// scenario sets, and where variants saturate. Nothing when fewer than two loads have both.
std::optional<Chart> rate_chart(const CompareReport& report, LatencyMetric metric,
                                LatencyStatistic statistic);

/// Shares of requests (for ITL, of gaps) below a latency, a line a variant. Nothing without curves.
std::optional<Chart> distribution_chart(const CompareReport& report, std::size_t load, LatencyMetric metric);

/// What the replicas of each variant spent their time on.
Chart time_chart(const CompareReport& report, std::size_t load);

/// A metric that each variant has, load by load, as bars; nothing when no variant has it.
std::optional<Chart> metric_chart(const CompareReport& report, std::string_view metric);

}  // namespace inferometer
