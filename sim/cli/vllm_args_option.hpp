#pragma once

#include <functional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace CLI {
class App;
}

namespace inferometer {

/// Adds --vllm-args, for commands that load a scenario; its text goes to `arguments`.
void add_vllm_args_option(CLI::App& command, std::string& arguments);

/// What lays such a text over a scenario; nothing when it is empty.
std::function<ScenarioLayer(const ConfigNode& below)> vllm_command(const std::string& arguments);

}  // namespace inferometer
