// Rules of single flags of vLLM: the model and its number formats, how it is spread over GPUs.

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/engine_arguments/vllm_translation.hpp"
#include "sim/validation/known_names.hpp"

namespace inferometer {
namespace {

using WordPair = std::pair<std::string_view, std::string_view>;

/// vLLM's word for a quantisation and ours. "": known to vLLM, and no format of ours.
constexpr std::array<WordPair, 32> kQuantizations = {{
    {"None", "none"},
    {"none", "none"},
    {"fp8", "fp8"},
    {"fbgemm_fp8", "fp8"},
    {"ptpc_fp8", "fp8"},
    {"modelopt", "fp8"},
    {"modelopt_fp8", "fp8"},
    {"fp_quant", ""},
    {"awq", "int4"},
    {"awq_marlin", "int4"},
    {"gptq", "int4"},
    {"gptq_marlin", "int4"},
    {"gptq_marlin_24", ""},
    {"marlin", "int4"},
    {"moe_wna16", "int4"},
    {"auto-round", "int4"},
    {"mxfp4", "mxfp4"},
    {"modelopt_fp4", "nvfp4"},
    {"nvfp4", "nvfp4"},
    {"petit_nvfp4", "nvfp4"},
    {"bitsandbytes", ""},
    {"gguf", ""},
    {"aqlm", ""},
    {"squeezellm", ""},
    {"deepspeedfp", ""},
    {"experts_int8", ""},
    {"hqq", ""},
    {"qqq", ""},
    {"bitblas", ""},
    {"tpu_int8", ""},
    {"torchao", ""},
    {"rtn", ""},
}};

/// Where the checkpoint says which format it is: its name tells, if anything.
constexpr std::array<std::string_view, 4> kAsCheckpoint = {"compressed-tensors", "quark", "inc",
                                                           "modelopt_mixed"};

bool is_disaggregated(const ConfigNode& below) {
  const ConfigNode* const pools = node_at(below, "cluster.pools");
  return pools != nullptr && (pools->find("prefill") != nullptr || pools->find("decode") != nullptr);
}

}  // namespace

std::string model_name(const std::string& id) {
  std::error_code unreadable;
  const bool is_there = std::filesystem::exists(id, unreadable);
  const std::optional<std::string> known = known_model(id);
  if (known || !is_there) {
    return known ? *known : id.substr(id.rfind('/') + 1);
  }
  return id.find('/') == std::string::npos ? "./" + id : id;
}

void translate_model(VllmTranslation& translation, const std::string& id, const Position& where) {
  translation.tree.set("model", model_name(id), where);
  // A checkpoint's name says its format, and that it has none of its own when it says nothing.
  const std::optional<std::string> in_name = quantization_in_name(id);
  if (known_model(id) && (in_name || node_at(translation.below, "engine.quantization") != nullptr)) {
    translation.tree.set("engine.quantization", in_name.value_or("none"), where);
  }
}

void translate_quantization(VllmTranslation& translation, const GivenFlag& given) {
  if (std::find(kAsCheckpoint.begin(), kAsCheckpoint.end(), given.value) != kAsCheckpoint.end()) {
    const GivenFlag* const model = translation.last("--model");
    if (!quantization_in_name(model != nullptr ? model->value : translation.command.model)) {
      translation.note(given, "is what the checkpoint says, whose format engine.quantization has to say");
    }
    return;
  }
  const auto found = std::find_if(kQuantizations.begin(), kQuantizations.end(),
                                  [&](const WordPair& pair) { return pair.first == given.value; });
  if (found == kQuantizations.end()) {
    std::vector<std::string> allowed(kAsCheckpoint.begin(), kAsCheckpoint.end());
    for (const WordPair& pair : kQuantizations) {
      allowed.emplace_back(pair.first);
    }
    translation.refuse(given, allowed);
  } else if (found->second.empty()) {
    translation.note(given, "is not modelled: " + given.value + " is no format of engine.quantization");
  } else {
    translation.tree.set("engine.quantization", std::string(found->second), given.value_where);
  }
}

void translate_kv_cache_dtype(VllmTranslation& translation, const GivenFlag& given) {
  static constexpr std::array<WordPair, 10> kFormats = {{{"auto", "auto"},
                                                         {"bfloat16", "auto"},
                                                         {"float16", "auto"},
                                                         {"half", "auto"},
                                                         {"fp8", "fp8"},
                                                         {"fp8_e4m3", "fp8"},
                                                         {"fp8_e5m2", "fp8"},
                                                         {"fp8_inc", "fp8"},
                                                         {"fp8_ds_mla", "fp8"},
                                                         {"nvfp4", ""}}};
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const WordPair& pair) { return pair.first == given.value; });
  if (found == kFormats.end()) {
    std::vector<std::string> allowed;
    for (const WordPair& pair : kFormats) {
      allowed.emplace_back(pair.first);
    }
    translation.refuse(given, allowed);
  } else if (found->second.empty()) {
    translation.note(given, "is not modelled: " + given.value + " is no format of engine.kv_cache_dtype");
  } else {
    translation.tree.set("engine.kv_cache_dtype", std::string(found->second), given.value_where);
  }
}

void translate_data_parallel(VllmTranslation& translation, const GivenFlag& given) {
  const std::optional<std::int64_t> ranks = translation.count_of(given);
  if (!ranks) {
    return;
  }
  const std::string text = std::to_string(*ranks);
  if (translation.has_experts().value_or(false)) {
    if (*ranks > 1 || node_at(translation.below, "hardware.attention_data_parallel") != nullptr) {
      translation.tree.set("hardware.attention_data_parallel", text, given.value_where);
    }
  } else if (is_disaggregated(translation.below)) {
    if (*ranks > 1) {
      translation.note(given, "changes nothing: the scenario says how many replicas prefill and decode");
    }
  } else if (*ranks > 1 || node_at(translation.below, "cluster.pools.mixed.replicas") != nullptr) {
    translation.tree.set("cluster.pools.mixed.replicas", text, given.value_where);
  }
}

std::int64_t attention_ranks(const VllmTranslation& translation) {
  return translation.count("hardware.attention_data_parallel", 1);
}

void translate_expert_parallel(VllmTranslation& translation, const GivenFlag& given) {
  if (!translation.has_experts().value_or(true)) {
    if (given.is_on) {
      translation.note(given,
                       "changes nothing: " + translation.text("model").value_or("") + " has no experts");
    }
    return;
  }
  const std::int64_t groups =
      given.is_on ? translation.count("hardware.tensor_parallel", 1) * attention_ranks(translation) : 1;
  if (groups > 1 || node_at(translation.below, "hardware.expert_parallel") != nullptr) {
    translation.tree.set("hardware.expert_parallel", std::to_string(groups), given.value_where);
  }
}

void translate_kv_offloading(VllmTranslation& translation, const GivenFlag& given) {
  constexpr std::int64_t kBytesOfGib = std::int64_t{1} << 30;
  const std::optional<std::int64_t> gib = human_count(given.value);
  if (!gib || *gib > INT32_MAX) {
    translation.mistakes.add(given.value_where, given.flag->name() + " is a whole number of GiB, found " +
                                                    quoted_excerpt(given.value));
    return;
  }
  const std::int64_t gpus = std::max<std::int64_t>(1, translation.count("hardware.tensor_parallel", 1) *
                                                          translation.count("hardware.pipeline_parallel", 1));
  translation.tree.set("engine.kv_offload.cpu_memory", std::to_string(*gib * kBytesOfGib / gpus) + " B",
                       given.value_where);
}

}  // namespace inferometer
