#pragma once

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// Lays what `engine.preset` says below the sections `engine` and `cost_model` of a whole scenario, and of
/// each of its pools that has a GPU or a preset of its own, by that GPU. Returns notes on what of a preset is
/// left out because the scenario makes another choice. Names of presets and GPUs that nobody knows are left
/// for the parser and for who loads them to report.
std::vector<std::string> lay_engine_presets(ConfigNode& tree, const PolicyRegistry& policies);

}  // namespace inferometer
