#pragma once

#include <cstdint>

#include "tests/support/dice.hpp"
#include "tests/support/random_cluster.hpp"

namespace inferometer::testing {

/// Pools of one to six replicas in all, with engines, prices and routers, and whether prefill and decode are
/// split (then disaggregation and dynamic_split are present where they are, with default values). Returns the
/// longest sequence that all of them take.
std::int64_t draw_pools(Dice& dice, std::uint64_t seed, RandomCluster& cluster);

}  // namespace inferometer::testing
