#pragma once

// Latencies that no size of a deployment goes below: each request alone on its fastest replica. Who uses it:
// the bounds of plans.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/metrics/duration_statistics.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/study/plan/plan_work.hpp"

namespace inferometer {

/// Of the requests of a run that are not turned away; in seconds, each list ascending.
struct LatencyFloors {
  std::vector<double> ttft, e2el;
  std::vector<double> tpot;   ///< of those with more than one token
  std::optional<double> gap;  ///< of any gap between tokens; absent when there are none
  /// How many can keep the limits of each request, at most.
  std::int64_t good = 0;
};

/// O(requests log requests).
LatencyFloors latency_floors(std::span<const PoolCost> pools, std::span<const RequestWork> works,
                             const RequestLimits& limits);

/// How a run reads its statistics off values.
struct StatisticRules {
  MetricDefinitions definitions = MetricDefinitions::vllm;
  Percentiles percentiles = Percentiles::exact;
};

/// What the statistic is at least when up to `failed` of the requests may be missing from it: those of the
/// highest floors, at worst. Nothing when all may be missing.
std::optional<double> least_statistic_seconds(const LatencyFloors& floors, LatencyMetric metric,
                                              LatencyStatistic statistic, const StatisticRules& rules,
                                              std::int64_t failed);

/// 99 for p99. Precondition: no mean.
std::int64_t percent_of(LatencyStatistic statistic);

}  // namespace inferometer
