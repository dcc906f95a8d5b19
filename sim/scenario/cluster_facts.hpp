#pragma once

#include <cstddef>
#include <optional>

#include "base/units.hpp"
#include "sim/cluster/coordinator.hpp"
#include "sim/metrics/cluster_summary.hpp"

namespace inferometer {

/// What a coordinator knows of a run that ended at `end`; handover times and lost requests are the recorder's
/// to add. O(replicas + links).
ClusterSummary cluster_facts(const Coordinator& coordinator, TimePoint end);

/// Seconds from the first arrival to `end` for which the replicas of a pool were there, added up; nothing
/// when all of them were all the time.
std::optional<double> paid_seconds(const Coordinator& coordinator, std::size_t pool, TimePoint end);

}  // namespace inferometer
