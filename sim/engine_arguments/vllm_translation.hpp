#pragma once

// How vLLM's flags become settings: what their rules share. Who uses it: vllm_command.cpp and the rules
// themselves.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/error.hpp"
#include "sim/engine_arguments/given_flags.hpp"
#include "sim/engine_arguments/setting_tree.hpp"

namespace inferometer {

struct VllmTranslation {
  const GivenCommand& command;
  const ConfigNode& below;  ///< the scenario so far
  SettingTree tree;         ///< what the command line sets
  std::vector<std::string> notes{};
  Diagnostics mistakes{};

  /// The last use of a flag, which counts; nullptr when it is not given.
  [[nodiscard]] const GivenFlag* last(const std::string& name) const;

  /// What a key will be: as the command line sets it, else as the scenario has it.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  [[nodiscard]] std::int64_t count(const std::string& path, std::int64_t otherwise) const;

  /// The whole number that a flag gives; nothing, and a mistake, for anything else.
  std::optional<std::int64_t> count_of(const GivenFlag& given);
  /// Adds a mistake: what was found, what is allowed and the nearest.
  void refuse(const GivenFlag& given, const std::vector<std::string>& allowed);
  void note(const GivenFlag& given, const std::string& what);

  /// All that a JSON flag says, in one piece or key by key, later over earlier. A mistake, and nothing, when
  /// it is no JSON.
  std::optional<ConfigNode> json_of(const std::string& name);

  /// Whether the model has experts; nothing where it is not known, which is told by who reads the scenario.
  [[nodiscard]] std::optional<bool> has_experts() const;
};

/// The name that a scenario has for a model by Hugging Face id or path: built in, else a path where there is
/// one, else the short name, which the scenario refuses with the nearest.
std::string model_name(const std::string& id);

// The rules. Each is called once, for the last use of a flag.

void translate_model(VllmTranslation& translation, const std::string& id, const Position& where);
void translate_quantization(VllmTranslation& translation, const GivenFlag& given);
void translate_kv_cache_dtype(VllmTranslation& translation, const GivenFlag& given);
void translate_data_parallel(VllmTranslation& translation, const GivenFlag& given);
void translate_expert_parallel(VllmTranslation& translation, const GivenFlag& given);
void translate_kv_offloading(VllmTranslation& translation, const GivenFlag& given);
/// Of --speculative-config, or of the single flags of versions before 0.9.
void translate_speculation(VllmTranslation& translation, const GivenFlag& given);

/// Ranks of attention that a scenario counts together where vLLM counts each alone.
std::int64_t attention_ranks(const VllmTranslation& translation);

}  // namespace inferometer
