// Rules of vLLM's flags of speculative decoding.

#include <algorithm>
#include <array>
#include <utility>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/engine_arguments/vllm_translation.hpp"

namespace inferometer {
namespace {

/// Keys of --speculative-config that change nothing that is simulated, beside those that are read.
constexpr std::array<std::string_view, 16> kNeutralKeys = {"prompt_lookup_max",
                                                           "prompt_lookup_min",
                                                           "revision",
                                                           "code_revision",
                                                           "trust_remote_code",
                                                           "disable_logprobs",
                                                           "max_model_len",
                                                           "enforce_eager",
                                                           "tokenizer",
                                                           "draft_load_config",
                                                           "disable_mqa_scorer",
                                                           "acceptance_method",
                                                           "posterior_alpha",
                                                           "rejection_sample_method",
                                                           "posterior_threshold",
                                                           "disable_padded_drafter_batch"};

struct Draft {
  std::string method, model;
  Position where;
  std::optional<std::string> tokens, most_sequences;
};

/// Our word for a method of vLLM; "" for one that is not modelled. Without a method vLLM goes by the model's
/// name.
std::string method_of(const Draft& draft) {
  const std::string& named = draft.method;
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  if (named == "ngram" || (named.empty() && has(draft.model, "ngram"))) {
    return "ngram";
  }
  if (named == "eagle" || named == "eagle3" ||
      (named.empty() && (has(draft.model, "eagle") || has(draft.model, "EAGLE")))) {
    return "eagle";
  }
  if (named == "mtp" || named.ends_with("_mtp") || (named.empty() && has(draft.model, "mtp"))) {
    return "mtp";
  }
  return named == "draft_model" || named.empty() ? "draft_model" : "";
}

Draft read_config(VllmTranslation& translation, const GivenFlag& given, const ConfigNode& config) {
  Draft draft;
  draft.where = given.value_where;
  std::vector<std::string> others;
  for (const ConfigNode::Entry& entry : config.entries) {
    const std::string& text = entry.value.scalar;
    if (entry.key == "method") {
      draft.method = text;
    } else if (entry.key == "model") {
      draft.model = text;
    } else if (entry.key == "num_speculative_tokens") {
      draft.tokens = text;
    } else if (entry.key == "disable_by_batch_size") {
      draft.most_sequences = text;
    } else if (std::find(kNeutralKeys.begin(), kNeutralKeys.end(), entry.key) == kNeutralKeys.end()) {
      others.push_back(entry.key);
    }
  }
  if (!others.empty()) {
    translation.note(given, "is not modelled in " + join_alternatives(others, "and"));
  }
  return draft;
}

/// As versions before 0.9 had it: --speculative-model X --num-speculative-tokens 5.
Draft read_single_flags(const VllmTranslation& translation, const GivenFlag& given) {
  Draft draft;
  draft.where = given.value_where;
  if (const GivenFlag* const model = translation.last("--speculative-model")) {
    draft.model = model->value;
  }
  if (const GivenFlag* const tokens = translation.last("--num-speculative-tokens")) {
    draft.tokens = tokens->value;
  }
  if (const GivenFlag* const most = translation.last("--speculative-disable-by-batch-size")) {
    draft.most_sequences = most->value;
  }
  return draft;
}

void set_draft(VllmTranslation& translation, const GivenFlag& given, const Draft& draft) {
  if (draft.method.empty() && draft.model.empty()) {
    translation.mistakes.add(draft.where,
                             given.flag->name() + " names neither a method nor a model that drafts");
    return;
  }
  const std::string method = method_of(draft);
  if (method.empty()) {
    translation.note(given, "is not modelled: nothing is known of the method " + draft.method +
                                "; engine.speculation stays as it is");
    return;
  }
  const std::string section = "engine.speculation.";
  translation.tree.set(section + "method", method, draft.where);
  if (method == "draft_model") {
    translation.tree.set(section + "model", model_name(draft.model), draft.where);
  }
  if (draft.tokens) {
    translation.tree.set(section + "num_speculative_tokens", *draft.tokens, draft.where);
  }
  if (draft.most_sequences) {
    translation.tree.set(section + "disable_by_batch_size", *draft.most_sequences, draft.where);
  }
  translation.note(
      given, "drafts tokens, and how many of them are accepted is for engine.speculation.acceptance to say");
}

}  // namespace

void translate_speculation(VllmTranslation& translation, const GivenFlag& given) {
  if (given.flag->name() == "--speculative-config") {
    const std::optional<ConfigNode> config = translation.json_of(given.flag->name());
    if (!config) {
      return;
    }
    if (config->kind != ConfigNode::Kind::map) {
      translation.mistakes.add(given.value_where, given.flag->name() +
                                                      " is a map such as {\"method\": \"ngram\", "
                                                      "\"num_speculative_tokens\": 4}, found " +
                                                      quoted_excerpt(given.value));
      return;
    }
    set_draft(translation, given, read_config(translation, given, *config));
    return;
  }
  // The last of the single flags says it for all.
  for (const GivenFlag& other : translation.command.flags) {
    const std::string& name = other.flag->name();
    const bool is_one = name == "--speculative-model" || name == "--num-speculative-tokens" ||
                        name == "--speculative-disable-by-batch-size";
    if (is_one && &other > &given) {
      return;
    }
  }
  if (translation.last("--speculative-config") == nullptr) {
    set_draft(translation, given, read_single_flags(translation, given));
  }
}

}  // namespace inferometer
