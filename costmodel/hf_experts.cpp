#include "costmodel/hf_experts.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace inferometer {
namespace {

// Limits far beyond any model, that keep every product of them inside 64 bits.
constexpr std::int64_t kMaxFfn = 10'000'000;
constexpr std::int64_t kMaxExperts = 10'000;
constexpr std::int64_t kMaxSharedExperts = 100;
constexpr std::int64_t kMaxLayers = 1'000;

constexpr const char* kExpertKeys[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_intermediate_size"};

void refuse_experts(ConfigFields& fields) {
  for (const char* key : kExpertKeys) {
    if (fields.says_something(key)) {
      fields.fail(key, fields.shown(key) + ": this class is dense, a mixture of experts has another");
    }
  }
}

/// A list of layer numbers, each once.
std::vector<std::int64_t> layer_numbers(ConfigFields& fields, const char* key, std::int64_t layers) {
  std::vector<std::int64_t> numbers;
  const nlohmann::json* list = fields.raw(key);
  if (list == nullptr || list->is_null()) {
    return numbers;
  }
  const bool is_list =
      list->is_array() && std::all_of(list->begin(), list->end(), [layers](const auto& one) {
        return one.is_number_integer() && one >= 0 && one < std::max<std::int64_t>(layers, 1);
      });
  if (!is_list) {
    fields.fail(key, fields.shown(key) + " is not a list of layers, numbered from 0 to " +
                         std::to_string(layers - 1));
    return numbers;
  }
  numbers = list->get<std::vector<std::int64_t>>();
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// Layers for which `has_experts(number)` is false.
template <class HasExperts>
std::vector<std::int64_t> layers_without(std::int64_t layers, HasExperts has_experts) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; number < layers; ++number) {
    if (!has_experts(number)) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

void read_counts(ConfigFields& fields, const char* experts_key, MixtureOfExperts& moe) {
  moe.experts = fields.required_count(experts_key, kMaxExperts);
  // gpt-oss has both spellings in its config.json.
  constexpr const char* kPerToken = "num_experts_per_tok";
  moe.experts_per_token = fields.required_count(kPerToken, kMaxExperts);
  if (moe.experts > 0 && moe.experts_per_token > moe.experts) {
    fields.fail(kPerToken, "num_experts_per_tok " + std::to_string(moe.experts_per_token) +
                               " is more than the experts there are: " + experts_key + " " +
                               std::to_string(moe.experts));
  }
}

/// Experts on every `decoder_sparse_step`-th layer that mlp_only_layers does not name.
void read_qwen(ConfigFields& fields, ModelSpec& model, MixtureOfExperts& moe) {
  read_counts(fields, "num_experts", moe);
  moe.ffn = fields.required_count("moe_intermediate_size", kMaxFfn);
  model.ffn = fields.required_count("intermediate_size", kMaxFfn);
  const std::int64_t step = fields.count("decoder_sparse_step", kMaxLayers).value_or(1);
  const std::vector<std::int64_t> dense = layer_numbers(fields, "mlp_only_layers", model.layers);
  moe.dense_layers = layers_without(model.layers, [&](std::int64_t number) {
    return (number + 1) % step == 0 && !std::binary_search(dense.begin(), dense.end(), number);
  });
}

void read_llama4(ConfigFields& fields, ModelSpec& model, MixtureOfExperts& moe) {
  read_counts(fields, "num_local_experts", moe);
  moe.ffn = fields.required_count("intermediate_size", kMaxFfn);
  moe.shared_ffn = moe.ffn;
  model.ffn = fields.required_count("intermediate_size_mlp", kMaxFfn);
  const std::vector<std::int64_t> listed = layer_numbers(fields, "moe_layers", model.layers);
  const std::int64_t step = fields.count("interleave_moe_layer_step", kMaxLayers).value_or(1);
  moe.dense_layers = layers_without(model.layers, [&](std::int64_t number) {
    return listed.empty() ? (number + 1) % step == 0
                          : std::binary_search(listed.begin(), listed.end(), number);
  });
}

void read_deepseek(ConfigFields& fields, ModelSpec& model, MixtureOfExperts& moe) {
  read_counts(fields, "n_routed_experts", moe);
  moe.ffn = fields.required_count("moe_intermediate_size", kMaxFfn);
  model.ffn = fields.required_count("intermediate_size", kMaxFfn);
  moe.shared_ffn = moe.ffn * fields.count_or_none("n_shared_experts", kMaxSharedExperts).value_or(0);
  const std::int64_t first = fields.count_or_none("first_k_dense_replace", kMaxLayers).value_or(0);
  const std::int64_t every = fields.count("moe_layer_freq", kMaxLayers).value_or(1);
  moe.dense_layers = layers_without(
      model.layers, [&](std::int64_t number) { return number >= first && number % every == 0; });
  // Groups of experts that a token may be sent to limit who is chosen, not how many: no price depends on
  // them.
  for (const char* key : {"n_group", "topk_group"}) {
    static_cast<void>(fields.count(key, kMaxExperts));
  }
  model.prediction_layers = fields.count_or_none("num_nextn_predict_layers", kMaxLayers).value_or(0);
}

void read_mixture(ConfigFields& fields, ExpertRule rule, ModelSpec& model, MixtureOfExperts& moe) {
  switch (rule) {
    case ExpertRule::none:
      return;
    case ExpertRule::gpt_oss:
      moe.router_bias = true;
      moe.expert_bias = true;
      [[fallthrough]];
    case ExpertRule::mixtral:
      read_counts(fields, "num_local_experts", moe);
      moe.ffn = fields.required_count("intermediate_size", kMaxFfn);
      return;
    case ExpertRule::qwen2:
      moe.shared_ffn = fields.required_count("shared_expert_intermediate_size", kMaxFfn);
      moe.shared_gate = true;
      [[fallthrough]];
    case ExpertRule::qwen3:
      return read_qwen(fields, model, moe);
    case ExpertRule::llama4:
      return read_llama4(fields, model, moe);
    case ExpertRule::deepseek3:
      moe.router_bias = true;
      [[fallthrough]];
    case ExpertRule::deepseek2:
      return read_deepseek(fields, model, moe);
  }
  check_failed("rule", __FILE__, __LINE__, "unknown rule of experts");
}

}  // namespace

void read_feed_forward(ConfigFields& fields, ExpertRule rule, ModelSpec& model) {
  if (rule == ExpertRule::none) {
    refuse_experts(fields);
    model.ffn = fields.required_count("intermediate_size", kMaxFfn);
    return;
  }
  MixtureOfExperts moe;
  read_mixture(fields, rule, model, moe);
  // Weights of experts that no layer has are no model of ours; so few experts are a dense model.
  if (static_cast<std::int64_t>(moe.dense_layers.size()) < model.layers) {
    model.moe = std::move(moe);
  }
}

}  // namespace inferometer
