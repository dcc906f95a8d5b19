#pragma once

// What can be said of a deployment without running it: what its requests' work takes at least of its
// replicas, at the lowest prices that its pricers have (least_cost.hpp). No simulation is faster, whatever it
// batches, chunks, preempts or hands over, so what these bounds exclude is excluded. Two kinds: a request by
// itself (latency_floors.hpp), which no size changes; and all of them together (work_demand.hpp), which need
// units.

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
  std::int64_t prompt = 0, output = 0;  ///< in tokens, >= 1; cut at max_model_len by who looks at them
  std::int64_t shared = 0;  ///< of the prompt, what a prefix cache may have at most: SharedPrefixes::tokens()
};

/// The requests of the scenario's workload, in order of arrival. Nothing where some wait for the answers to
/// others, so that when they come depends on the deployment. O(content runs of the requests).
std::optional<std::vector<TrafficRequest>> traffic_of(const Scenario& scenario);

struct PlanBound {
  /// Sizes below this many units miss the SLO; 0: nothing is proven.
  std::int64_t least_units = 0;
  /// No size meets it; `reason` says which limit, and what it is at least.
  bool is_impossible = false;
  std::string reason;
};

/// `unit`: a deployment of one unit of the shape; n units have n times the replicas of each of its pools.
/// `traffic`: by seed, in order of arrival. The SLO is missed when the mean over seeds of a statistic is over
/// its limit or that of the goodput below goodput_min, or more than `failed_max` (a share) of the requests
/// fail, of each seed or of all together. `scenario`: how its metrics are defined. Beside the time that
/// building the unit's pricers takes, O(requests log requests) for each seed and limit. Throws ConfigError as
/// building the unit does.
PlanBound plan_bound(const Scenario& scenario, const Deployment& unit, const SloTargets& slo,
                     const std::vector<std::vector<TrafficRequest>>& traffic, double failed_max);

}  // namespace inferometer
