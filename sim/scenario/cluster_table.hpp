#pragma once

// The keys of a scenario that say what it runs on: `hardware` for one replica, `cluster` for more.

#include <array>
#include <string>

#include "base/config/table.hpp"
#include "sim/cluster/cluster_setup.hpp"
#include "sim/router/router.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// In the order in which replicas are numbered.
inline constexpr std::array<PoolRole, kPoolRoles> kPoolOrder = {PoolRole::mixed, PoolRole::prefill,
                                                                PoolRole::decode};

/// The section `hardware`.
Table hardware_table();

/// The section `cluster`.
Table cluster_table(const PolicyRegistry& policies, const RouterRegistry& routers);

}  // namespace inferometer
