#pragma once

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// A scenario as one tree: what it extends at the bottom, then the file, then the command line's changes.
struct ScenarioLayers {
  ConfigNode tree;
  std::vector<Scenario::Input> extended;  ///< files below the scenario, the nearest first
  std::vector<std::string> notes;         ///< keys that a change of choice made meaningless
};

/// `node` is the scenario's own tree, `file` its name. Throws ConfigError: a file that is not there, a
/// circle, a change that cannot be applied.
ScenarioLayers stack_layers(ConfigNode node, const std::string& file, const std::string& directory,
                            const ScenarioOverrides& overrides, const Table& table);

}  // namespace inferometer
