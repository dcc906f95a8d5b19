#pragma once

// A pool's sections `engine` and `cost_model` say only what differs from the scenario's own. Before a
// scenario is parsed, the scenario's are laid below them, so that they are read, checked and shown whole.

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/error.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

struct PoolLayers {
  std::vector<std::string> notes;  ///< keys that a pool's own choice made meaningless
  std::vector<Position> shared;    ///< of everything in the scenario's own sections
};

/// `tree`: a whole scenario. With policy "disaggregated" it also fills in what the system does, and gives
/// each pool an engine with the batch policy.
PoolLayers lay_below_pools(ConfigNode& tree, const PolicyRegistry& policies);

/// `found` in a tree with such layers, without what is a mistake of the scenario's own section and found in
/// each pool's again.
Diagnostics told_once(const Diagnostics& found, const PoolLayers& layers);

}  // namespace inferometer
