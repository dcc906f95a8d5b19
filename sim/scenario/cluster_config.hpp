#pragma once

// What a scenario's section `cluster` says besides its pools and nodes: routers, admission, failures,
// start-ups, scaling. Read into the plain data that the engine runs.

#include "base/config/values.hpp"
#include "sim/cluster/cluster_setup.hpp"
#include "sim/router/router.hpp"
#include "sim/scenario/pool_spec.hpp"

namespace inferometer {

/// Most replicas that each pool may come to have.
std::vector<std::int64_t> most_replicas(const Values& scenario, const std::vector<PoolSpec>& pools);

/// Everything but pools, disaggregation and network. Adds to `diagnostics`: replicas and pools that are not
/// there, events without a replica or with two, bounds upside down, routers that the traffic gives nothing to
/// decide by.
ClusterSetup read_cluster(const Values& scenario, const std::vector<PoolSpec>& pools,
                          const RouterRegistry& routers, Diagnostics& diagnostics);

/// Adds a note where a router weighs what its pool has no use for.
void add_router_note(const Values& scenario, const std::vector<PoolSpec>& pools,
                     std::vector<std::string>& notes);

/// A maker of routers for a pool. `scenario` is copied from.
std::function<std::unique_ptr<Router>()> router_maker(const Values& scenario, PoolRole role,
                                                      const RouterRegistry& routers, std::uint64_t seed);

}  // namespace inferometer
