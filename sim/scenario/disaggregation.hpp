#pragma once

// The policy "disaggregated": prompts are computed on one pool and decoded on another. Its keys in the
// section `engine`, the systems whose way of doing it is built in, and what they amount to.

#include <string>
#include <string_view>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "sim/cluster/cluster_setup.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// Its word, among the policies of an engine.
inline constexpr std::string_view kDisaggregated = "disaggregated";
/// The key that names the policy of the pools' engines.
inline constexpr std::string_view kBatchPolicy = "batch_policy";

/// One sentence, as batch policies have.
std::string_view disaggregation_summary();

/// The keys of the policy, and with them those of every batch policy.
EngineSplit disaggregation_split(const PolicyRegistry& policies);

/// A system, and the words and quantities that stand for it.
struct DisaggregatedSystem {
  std::string name;
  std::string summary;  ///< what it does, and where that is from
  struct Setting {
    std::string key, value;
  };
  std::vector<Setting> settings;
};

const std::vector<DisaggregatedSystem>& disaggregated_systems();

/// Whether a section `engine` asks for the policy.
bool is_disaggregated(const ConfigNode* engine);

/// Writes what the system does into a section `engine` that asks for the policy, below what is written there,
/// and the usual parameters of its `local_prefill`. Words that nobody knows are left for the parser to
/// report.
void lay_system_below(ConfigNode& engine);

/// Reads a section that lay_system_below() has gone over. Adds keys that go with another choice to
/// `diagnostics`. `step_tokens`: most tokens of a step of the prefill pool's engines.
DisaggregationSetup read_disaggregation(const Values& engine, std::int64_t step_tokens,
                                        Diagnostics& diagnostics);

}  // namespace inferometer
