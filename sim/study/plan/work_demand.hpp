#pragma once

// What a limit of the SLO demands of a deployment's size: that most requests' work is done by some time. Work
// that must be done between the first of some arrivals and the last of them plus the time that the limit
// leaves fits into that time of all replicas. Who uses it: the bounds of plans.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/metrics/slo.hpp"
#include "sim/study/plan/latency_floors.hpp"
#include "sim/study/plan/plan_work.hpp"

namespace inferometer {

/// A share of the requests of a run within a limit.
struct ShareWithin {
  std::string name;  ///< "ttft_p99 = 500 ms"
  LatencyMetric metric{};
  std::int64_t percent = 99;  ///< that percentile is at most ...
  double limit_seconds = 0;   ///< ... this
};

/// Limits that one run keeps together.
struct WorkDemand {
  std::string name;                             ///< "ttft_p99 = 500 ms and tpot_p99 = 50 ms"
  std::optional<ShareWithin> ttft, tpot, e2el;  ///< tpot only with ttft; e2el alone
  std::optional<double> good_share;             ///< of all requests, in place of percentiles
};

/// All that follow from the SLO. `seeds`: runs whose means are held against it. The mean is within a limit
/// only if a run is; two limits are kept by the same run if each is taken twice as high, as fewer than half
/// of the runs exceed twice the mean. A mean over requests is a median and a 90th percentile likewise.
std::vector<WorkDemand> work_demands(const SloTargets& slo, const StatisticRules& rules, std::int64_t seeds);

/// The time that a demand is tightest at.
struct WorkBound {
  double units = 0;         ///< so many at least
  double busy_seconds = 0;  ///< of a unit
  double window_seconds = 0;
  std::int64_t requests = 0;  ///< whose work it is
};

/// `works`: of one run, those turned away included, by arrival; `failed`: how many others may be missing.
/// O(requests log requests).
WorkBound work_bound(const WorkDemand& demand, std::span<const PoolCost> pools,
                     std::span<const RequestWork> works, std::int64_t failed);

}  // namespace inferometer
