#pragma once

// What can be said of a deployment without running it: its requests' work at the peak speed of its GPUs.
// Nothing that is simulated can be faster, so what these bounds exclude is excluded.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/metrics/slo.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// A request of the traffic: what its latencies depend on at least.
struct TrafficRequest {
  TimePoint arrival;
  std::int64_t prompt = 0, output = 0;
};

/// The requests of the scenario's workload, in order of arrival. O(requests). Precondition: open loop.
std::vector<TrafficRequest> traffic_of(const Scenario& scenario);

struct PlanBound {
  /// Sizes below this many units miss the SLO; 0: nothing is proven.
  std::int64_t least_units = 0;
  /// No size meets it; `reason` says which limit, and what it is at least.
  bool is_impossible = false;
  std::string reason;
};

/// `unit`: a deployment of one unit of the shape. `traffic`: by seed. The SLO is missed when the mean over
/// seeds of a statistic is over its limit, or more than `failed_max` of the requests fail. O(requests log
/// requests) for each seed.
PlanBound plan_bound(const Scenario& scenario, const Deployment& unit, const SloTargets& slo,
                     const std::vector<std::vector<TrafficRequest>>& traffic, double failed_max);

}  // namespace inferometer
