#include "sim/engine_arguments/vllm_command.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/engine_arguments/vllm_translation.hpp"

namespace inferometer {
namespace {

/// Policies that no vLLM has, of which a scenario may be when it is given one's command line.
constexpr std::array<std::string_view, 5> kOtherPolicies = {"static", "orca", "sarathi", "sglang", "trtllm"};
constexpr const char* kVllmPolicy = "chunked_prefill";

/// Where the scenario has its batch policy.
std::string policy_path(const ConfigNode& below) {
  return text_at(below, "engine.policy") == "disaggregated" ? "engine.batch_policy" : "engine.policy";
}

void translate_dtype(VllmTranslation& translation, const GivenFlag& given) {
  const std::vector<std::string> allowed = {"auto", "bfloat16", "float16", "half", "float32", "float"};
  if (std::find(allowed.begin(), allowed.end(), given.value) == allowed.end()) {
    translation.refuse(given, allowed);
  } else if (given.value.starts_with("float") && given.value != "float16") {
    translation.note(given, "is not modelled: weights and KV cache have 16 bits or fewer");
  }
}

void translate_max_model_len(VllmTranslation& translation, const GivenFlag& given) {
  if (given.value == "auto" || given.value == "-1") {  // as long as fits, which is what an absent key means
    return;
  }
  if (const std::optional<std::int64_t> count = translation.count_of(given)) {
    translation.tree.set("engine.max_model_len", std::to_string(*count), given.value_where);
  }
}

void translate_scheduling_policy(VllmTranslation& translation, const GivenFlag& given) {
  if (given.value != "fcfs" && given.value != "priority") {
    translation.refuse(given, {"fcfs", "priority"});
    return;
  }
  const std::string path = policy_path(translation.below);
  const bool is_served_in_order = text_at(translation.below, path) == "continuous";
  if (given.value == "priority" || !is_served_in_order) {
    translation.tree.set(path, given.value == "priority" ? "priority" : kVllmPolicy, given.value_where);
  }
}

void translate_enforce_eager(VllmTranslation& translation, const GivenFlag& given) {
  translation.tree.set("cost_model.cuda_graphs", given.is_on ? "false" : "true", given.where);
  if (given.is_on) {
    translation.note(given, "leaves gaps between kernels, which are for cost_model.host_fixed to say");
  }
}

void note_keys(VllmTranslation& translation, const GivenFlag& given, const std::vector<std::string>& keys) {
  if (!keys.empty()) {
    translation.note(given, "is not modelled in " + join_alternatives(keys, "and"));
  }
}

void translate_compilation(VllmTranslation& translation, const GivenFlag& given) {
  const std::optional<ConfigNode> config = translation.json_of(given.flag->name());
  if (!config) {
    return;
  }
  if (config->kind != ConfigNode::Kind::map) {  // the level alone, as older versions take it
    if (config->scalar != "3" && config->scalar != "2") {
      translation.note(given, "is not modelled: kernels and launches are those of the default level");
    }
    return;
  }
  std::vector<std::string> others;
  for (const ConfigNode::Entry& entry : config->entries) {
    const std::string& word = entry.value.scalar;
    if (entry.key == "cudagraph_mode") {
      translation.tree.set("cost_model.cuda_graphs", word == "NONE" || word == "0" ? "false" : "true",
                           given.value_where);
    } else if ((entry.key != "mode" && entry.key != "level") || (word != "3" && word != "VLLM_COMPILE")) {
      others.push_back(entry.key);
    }
  }
  note_keys(translation, given, others);
}

void translate_hf_overrides(VllmTranslation& translation, const GivenFlag& given) {
  static constexpr std::array<std::string_view, 6> kNeutral = {"rope_scaling",  "rope_parameters",
                                                               "rope_theta",    "max_position_embeddings",
                                                               "architectures", "model_type"};
  const std::optional<ConfigNode> config = translation.json_of(given.flag->name());
  std::vector<std::string> others;
  for (const ConfigNode::Entry& entry : config ? config->entries : std::vector<ConfigNode::Entry>()) {
    if (std::find(kNeutral.begin(), kNeutral.end(), entry.key) == kNeutral.end()) {
      others.push_back(entry.key);
    }
  }
  note_keys(translation, given, others);
}

void translate_optimization_level(VllmTranslation& translation, const GivenFlag& given) {
  if (given.value != "2" && given.value != "3") {
    translation.note(given, "is not modelled: kernels and launches are those of the default level");
  }
}

void translate_preemption_mode(VllmTranslation& translation, const GivenFlag& given) {
  if (given.value != "recompute" && given.value != "swap") {
    translation.refuse(given, {"recompute", "swap"});
    return;
  }
  translation.tree.set(policy_path(translation.below), "continuous", given.value_where);
  translation.tree.set("engine.preemption_mode", given.value, given.value_where);
}

void translate_swap_space(VllmTranslation& translation, const GivenFlag& given) {
  const GivenFlag* const mode = translation.last("--preemption-mode");
  if (mode != nullptr && mode->value == "swap") {
    translation.tree.set("engine.swap_space", given.value + " GiB", given.value_where);
  }
}

void translate_config_path(VllmTranslation& translation, const GivenFlag& given) {
  translate_model(translation, given.value, given.value_where);
}

void refuse_config(VllmTranslation& translation, const GivenFlag& given) {
  translation.mistakes.add(given.where,
                           "--config names a file of flags, which is not read; write its flags here");
}

void nothing_more(VllmTranslation&, const GivenFlag&) {
}  // --model, which was first

struct Rule {
  std::string_view flag;
  void (*translate)(VllmTranslation&, const GivenFlag&);
};
constexpr std::array kRules = {
    Rule{"--config", refuse_config},
    Rule{"--model", nothing_more},
    Rule{"--hf-config-path", translate_config_path},
    Rule{"--quantization", translate_quantization},
    Rule{"--dtype", translate_dtype},
    Rule{"--kv-cache-dtype", translate_kv_cache_dtype},
    Rule{"--max-model-len", translate_max_model_len},
    Rule{"--data-parallel-size", translate_data_parallel},
    Rule{"--enable-expert-parallel", translate_expert_parallel},
    Rule{"--kv-offloading-size", translate_kv_offloading},
    Rule{"--scheduling-policy", translate_scheduling_policy},
    Rule{"--enforce-eager", translate_enforce_eager},
    Rule{"--compilation-config", translate_compilation},
    Rule{"--preemption-mode", translate_preemption_mode},
    Rule{"--swap-space", translate_swap_space},
    Rule{"--speculative-config", translate_speculation},
    Rule{"--speculative-model", translate_speculation},
    Rule{"--num-speculative-tokens", translate_speculation},
    Rule{"--speculative-disable-by-batch-size", translate_speculation},
    Rule{"--hf-overrides", translate_hf_overrides},
    Rule{"--optimization-level", translate_optimization_level},
};

void translate_by_rule(VllmTranslation& translation, const GivenFlag& given) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                 [&](const Rule& each) { return each.flag == given.flag->name(); });
  INFEROMETER_CHECK(rule != kRules.end(), "a flag with a rule of its own has one");
  rule->translate(translation, given);
}

/// A number as Python reads it, in the form that a scenario takes.
std::string number_text(const std::string& value) {
  return value.starts_with(".") ? "0" + value : value;
}

void note_unmodelled(VllmTranslation& translation, const GivenFlag& given) {
  const EngineFlag& flag = *given.flag;
  const bool is_neutral =
      !given.is_on || std::find(flag.neutral.begin(), flag.neutral.end(), given.value) != flag.neutral.end();
  const bool is_told = !is_neutral || (flag.form == FlagForm::list && !given.values.empty());
  if (is_told) {
    translation.note(given, "is not modelled: " + flag.says);
  }
}

void translate_flag(VllmTranslation& translation, const GivenFlag& given) {
  const EngineFlag& flag = *given.flag;
  switch (flag.effect) {
    case FlagEffect::count:
    case FlagEffect::rank_count:
      if (const std::optional<std::int64_t> count = translation.count_of(given)) {
        const std::int64_t ranks = flag.effect == FlagEffect::rank_count ? attention_ranks(translation) : 1;
        translation.tree.set(flag.says, std::to_string(*count > INT32_MAX ? *count : *count * ranks),
                             given.value_where);
      }
      break;
    case FlagEffect::number:
      translation.tree.set(flag.says, number_text(given.value), given.value_where);
      break;
    case FlagEffect::flag:
      translation.tree.set(flag.says, given.is_on ? "true" : "false", given.where);
      break;
    case FlagEffect::own:
      translate_by_rule(translation, given);
      break;
    case FlagEffect::not_modelled:
      note_unmodelled(translation, given);
      break;
    case FlagEffect::none:
      break;
  }
}

/// How GPUs share the work, and which model: what other flags are counted by. The last use of each counts.
bool goes_first(const GivenFlag& given) {
  static constexpr std::array<std::string_view, 4> kFirst = {
      "--hf-config-path", "--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"};
  return std::find(kFirst.begin(), kFirst.end(), given.flag->name()) != kFirst.end();
}

void translate_flags(VllmTranslation& translation) {
  if (const GivenFlag* const model = translation.last("--model")) {
    translate_model(translation, model->value, model->value_where);
  } else if (!translation.command.model.empty()) {
    translate_model(translation, translation.command.model, translation.command.model_where);
  }
  for (const bool is_first : {true, false}) {
    for (const GivenFlag& given : translation.command.flags) {
      if (goes_first(given) != is_first) {
        continue;
      }
      if (translation.last(given.flag->name()) == &given) {
        translate_flag(translation, given);
      } else if (given.flag->form != FlagForm::json && given.flag->effect != FlagEffect::none) {
        translation.note(given, "stands there twice; the last counts");
      }
    }
  }
}

void replace_policy(VllmTranslation& translation, const Position& where) {
  const std::string path = policy_path(translation.below);
  const std::string policy = text_at(translation.below, path).value_or(kVllmPolicy);
  if (std::find(kOtherPolicies.begin(), kOtherPolicies.end(), policy) != kOtherPolicies.end() &&
      !text_at(translation.tree.root(), path)) {
    translation.tree.set(path, kVllmPolicy, where);
    translation.notes.push_back(path + " is " + kVllmPolicy + " in place of " + policy +
                                ", since --vllm-args is a command line of vLLM");
  }
}

/// A pool that has a key of its own goes by that.
void note_pools(VllmTranslation& translation) {
  const ConfigNode* const pools = node_at(translation.below, "cluster.pools");
  std::vector<std::string> hidden;
  for (const ConfigNode::Entry& pool : pools != nullptr ? pools->entries : std::vector<ConfigNode::Entry>()) {
    for (const auto& [section, inside] : {std::pair("hardware", ""), std::pair("engine", "engine.")}) {
      const ConfigNode* const set = translation.tree.root().find(section);
      for (const ConfigNode::Entry& entry :
           set != nullptr ? set->entries : std::vector<ConfigNode::Entry>()) {
        if (node_at(pool.value, inside + entry.key) != nullptr) {
          hidden.push_back("cluster.pools." + pool.key + "." + inside + entry.key);
        }
      }
    }
  }
  if (!hidden.empty()) {
    translation.notes.push_back("--vllm-args leaves as the scenario has it: " +
                                join_alternatives(hidden, "and"));
  }
}

}  // namespace

ScenarioLayer vllm_layer(const std::string& text, const ConfigNode& below) {
  const EngineProgram& program = vllm_program();
  const GivenCommand command = read_command(program, text);
  VllmTranslation translation{command, below, {}};
  if (!command.environment.empty()) {
    translation.notes.push_back("--vllm-args does not read environment variables: " +
                                join_alternatives(command.environment, "and"));
  }
  translate_flags(translation);
  translation.mistakes.throw_if_any();
  replace_policy(translation, {program.option, 1, 1});
  note_pools(translation);
  return {program.option, translation.tree.root(), {}, std::move(translation.notes)};
}

}  // namespace inferometer
