#pragma once

// vLLM's command line as changes of a scenario. Who uses it: commands that take --vllm-args.

#include <string>

#include "base/config/config_node.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// What `text`, such as "serve Qwen/Qwen3-32B -tp 2 --max-num-seqs 128", changes in the scenario `below`, a
/// tree with everything that lies below it. vllm_program() has what becomes of each flag; what the command
/// line does not say stays as it is. A command line names no GPU and no traffic, so those are always the
/// scenario's.
///
/// Its notes name flags that change performance and are not modelled, and what the scenario says on that the
/// command line cannot reach. Throws ConfigError, at places such as --vllm-args:1:22, for what vLLM would not
/// take either and for flags that are not known; values out of a key's range are for the scenario's reader,
/// which reports them at the same places.
ScenarioLayer vllm_layer(const std::string& text, const ConfigNode& below);

}  // namespace inferometer
