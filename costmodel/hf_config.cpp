#include "costmodel/hf_config.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "costmodel/config_fields.hpp"
#include "costmodel/hf_experts.hpp"
#include "costmodel/hf_quantization.hpp"
#include "costmodel/sliding_window.hpp"

namespace inferometer {
namespace {

// Limits far beyond any model, that keep every product of them inside 64 bits.
constexpr std::int64_t kMaxLayers = 1'000;
constexpr std::int64_t kMaxHidden = 1'000'000;
constexpr std::int64_t kMaxHeads = 4'096;
constexpr std::int64_t kMaxHeadDim = 4'096;
constexpr std::int64_t kMaxRank = 100'000;
constexpr std::int64_t kMaxVocab = 10'000'000;
constexpr std::int64_t kMaxPositions = 1'000'000'000;

/// Its text_config is the model; images come in through parts that are not priced.
constexpr const char* kMultimodalLlama4 = "Llama4ForConditionalGeneration";

enum class Bias { none, by_key, on_qkv };
enum class Heads { grouped, latent };

/// What differs between the supported classes. Defaults are those of the configuration classes of
/// transformers 4.5x. The norm of query and key heads in Llama 4 has no weights and counts as part of the
/// rotary embedding.
struct Architecture {
  const char* name;
  std::int64_t default_kv_heads;  ///< when num_key_value_heads is absent; 0: as many as query heads
  std::int64_t default_head_dim;  ///< when head_dim is absent; 0: hidden_size / num_attention_heads
  Bias bias;
  bool qk_norm;
  WindowRule window;
  Heads heads = Heads::grouped;
  ExpertRule experts = ExpertRule::none;
};

constexpr std::array<Architecture, 12> kArchitectures{{
    {"LlamaForCausalLM", 0, 0, Bias::by_key, false, WindowRule::never},
    {"MistralForCausalLM", 8, 0, Bias::none, false, WindowRule::on_every_layer},
    {"Qwen2ForCausalLM", 32, 0, Bias::on_qkv, false, WindowRule::by_layer},
    {"Qwen3ForCausalLM", 32, 128, Bias::by_key, true, WindowRule::by_layer},
    {"MixtralForCausalLM", 8, 0, Bias::none, false, WindowRule::if_given, Heads::grouped,
     ExpertRule::mixtral},
    {"Qwen2MoeForCausalLM", 16, 0, Bias::on_qkv, false, WindowRule::by_layer, Heads::grouped,
     ExpertRule::qwen2},
    {"Qwen3MoeForCausalLM", 4, 0, Bias::by_key, true, WindowRule::by_layer, Heads::grouped,
     ExpertRule::qwen3},
    {"GptOssForCausalLM", 8, 64, Bias::by_key, false, WindowRule::alternating, Heads::grouped,
     ExpertRule::gpt_oss},
    {"Llama4ForCausalLM", 8, 128, Bias::by_key, false, WindowRule::chunks, Heads::grouped,
     ExpertRule::llama4},
    {kMultimodalLlama4, 8, 128, Bias::by_key, false, WindowRule::chunks, Heads::grouped, ExpertRule::llama4},
    {"DeepseekV2ForCausalLM", 0, 0, Bias::none, false, WindowRule::never, Heads::latent,
     ExpertRule::deepseek2},
    {"DeepseekV3ForCausalLM", 0, 0, Bias::none, false, WindowRule::never, Heads::latent,
     ExpertRule::deepseek3},
}};

struct Refusal {
  const char* key;
  const char* reason;
};

constexpr Refusal kRefusedFlags[] = {
    {"is_encoder_decoder", "encoder-decoder models are not priced; only decoder-only ones are"},
    {"mlp_bias", "a bias in the feed-forward layers is not priced"},
};

constexpr Refusal kRefusals[] = {
    {"sliding_window_pattern", "windows that differ between layers are not priced"},
};

constexpr const char* kMultimodalKeys[] = {"text_config", "vision_config"};

void refuse_multimodal(ConfigFields& fields) {
  for (const char* key : kMultimodalKeys) {
    if (fields.says_something(key)) {
      fields.fail(key, fields.shown(key) +
                           ": multimodal models are not priced; give the config.json of a text-only model");
    }
  }
}

void refuse_what_is_not_priced(ConfigFields& fields) {
  for (const Refusal& refusal : kRefusedFlags) {
    if (fields.flag_or(refusal.key, false)) {
      fields.fail(refusal.key, fields.shown(refusal.key) + ": " + refusal.reason);
    }
  }
  for (const Refusal& refusal : kRefusals) {
    if (fields.says_something(refusal.key)) {
      fields.fail(refusal.key, fields.shown(refusal.key) + ": " + refusal.reason);
    }
  }
  if (const auto activation = fields.text("hidden_act"); activation && *activation != "silu") {
    fields.fail("hidden_act", fields.shown("hidden_act") + ": only the gated silu feed-forward is priced");
  }
}

const Architecture* find_architecture(ConfigFields& fields) {
  std::vector<std::string> names;
  for (const Architecture& architecture : kArchitectures) {
    names.emplace_back(architecture.name);
  }
  const std::string allowed = "priced are " + join_alternatives(names);
  const nlohmann::json* list = fields.raw("architectures");
  if (list == nullptr) {
    fields.fail("architectures", "architectures is missing; " + allowed);
    return nullptr;
  }
  if (!list->is_array() || list->size() != 1 || !list->front().is_string()) {
    fields.fail("architectures",
                fields.shown("architectures") + " is not a list of one class name; " + allowed);
    return nullptr;
  }
  const auto& name = list->front().get_ref<const std::string&>();
  for (const Architecture& architecture : kArchitectures) {
    if (name == architecture.name) {
      return &architecture;
    }
  }
  const std::string shown = list->front().dump(-1, ' ', true).substr(0, 80);
  // A name that resembles one we know is no slip when the model has parts that we do not price.
  const std::string near = fields.has_failed() ? "" : did_you_mean(name.substr(0, 80), names);
  fields.fail("architectures", "architecture " + shown + " is not supported" + near + " (" + allowed + ")");
  return nullptr;
}

/// Bytes of one parameter. "dtype" is the newer spelling of "torch_dtype".
std::int64_t read_weight_bytes(ConfigFields& fields) {
  const auto width = [&fields](const char* key) -> std::int64_t {
    const auto type = fields.text(key);
    if (!type || *type == "bfloat16" || *type == "float16") {
      return 2;
    }
    if (*type == "float32") {
      return 4;
    }
    fields.fail(key, fields.shown(key) + " is not priced; allowed are bfloat16, float16 or float32");
    return 2;
  };
  const std::int64_t old_spelling = width("torch_dtype");
  const std::int64_t new_spelling = width("dtype");
  if (fields.says_something("torch_dtype") && fields.says_something("dtype") &&
      old_spelling != new_spelling) {
    fields.fail("dtype", fields.shown("dtype") + " contradicts " + fields.shown("torch_dtype"));
  }
  return fields.says_something("dtype") ? new_spelling : old_spelling;
}

void read_heads(ConfigFields& fields, const Architecture& architecture, ModelSpec& model) {
  model.heads = fields.required_count("num_attention_heads", kMaxHeads);
  const bool default_kv_heads = !fields.has("num_key_value_heads") && architecture.default_kv_heads != 0;
  model.kv_heads = default_kv_heads ? architecture.default_kv_heads
                                    : fields.count("num_key_value_heads", kMaxHeads).value_or(model.heads);
  if (model.heads > 0 && (model.kv_heads == 0 || model.heads % model.kv_heads != 0)) {
    fields.fail("num_key_value_heads", "num_attention_heads " + std::to_string(model.heads) +
                                           " is not a multiple of num_key_value_heads " +
                                           std::to_string(model.kv_heads));
  }
  const bool default_head_dim = !fields.has("head_dim") && architecture.default_head_dim != 0;
  if (default_head_dim) {
    model.head_dim = architecture.default_head_dim;
  } else if (fields.has("head_dim") && !fields.raw("head_dim")->is_null()) {
    model.head_dim = fields.required_count("head_dim", kMaxHeadDim);
  } else if (model.heads > 0 && model.hidden > 0) {
    if (model.hidden % model.heads != 0) {
      fields.fail("hidden_size", "hidden_size " + std::to_string(model.hidden) +
                                     " is not a multiple of num_attention_heads " +
                                     std::to_string(model.heads) + "; such a model has to give head_dim");
    }
    model.head_dim = model.hidden / model.heads;
  }
}

/// Every head has its own keys and values, made from one compressed vector.
void read_latent_attention(ConfigFields& fields, ModelSpec& model) {
  model.heads = fields.required_count("num_attention_heads", kMaxHeads);
  model.kv_heads = model.heads;
  LatentAttention latent;
  latent.q_rank = fields.count("q_lora_rank", kMaxRank).value_or(0);
  latent.kv_rank = fields.required_count("kv_lora_rank", kMaxRank);
  latent.rope_dim = fields.required_count("qk_rope_head_dim", kMaxHeadDim);
  latent.nope_dim = fields.required_count("qk_nope_head_dim", kMaxHeadDim);
  latent.value_dim = fields.required_count("v_head_dim", kMaxHeadDim);
  if (fields.flag_or("attention_bias", false)) {
    fields.fail("attention_bias",
                fields.shown("attention_bias") + ": a bias in latent attention is not priced");
  }
  model.head_dim = latent.nope_dim + latent.rope_dim;
  model.latent = latent;
}

void read_bias(ConfigFields& fields, const Architecture& architecture, ModelSpec& model) {
  const bool by_key = architecture.bias == Bias::by_key && fields.flag_or("attention_bias", false);
  model.attention_bias = by_key || architecture.bias == Bias::on_qkv;
  model.output_bias = by_key;
}

void read_attention(ConfigFields& fields, const Architecture& architecture, ModelSpec& model) {
  if (architecture.heads == Heads::latent) {
    read_latent_attention(fields, model);
  } else {
    if (fields.says_something("kv_lora_rank")) {
      fields.fail("kv_lora_rank",
                  fields.shown("kv_lora_rank") + ": this class has no multi-head latent attention");
    }
    read_heads(fields, architecture, model);
  }
  read_bias(fields, architecture, model);
  model.qk_norm = architecture.qk_norm;
  model.attention_sinks = architecture.experts == ExpertRule::gpt_oss;
  LayerWindows windows = read_sliding_window(fields, architecture.window, model.layers, kMaxPositions);
  model.sliding_window = windows.window;
  model.full_layers = std::move(windows.full_layers);
}

/// What describes the text model: keys of the file, or of its text_config.
void read_shape(ConfigFields& fields, const Architecture& architecture, ModelSpec& model) {
  model.layers = fields.required_count("num_hidden_layers", kMaxLayers);
  model.hidden = fields.required_count("hidden_size", kMaxHidden);
  read_attention(fields, architecture, model);
  read_feed_forward(fields, architecture.experts, model);
  model.vocab = fields.required_count("vocab_size", kMaxVocab);
  model.max_positions = fields.required_count("max_position_embeddings", kMaxPositions);
  model.tied_embeddings = fields.flag_or("tie_word_embeddings", false);
}

}  // namespace

ModelSpec parse_hf_config(std::string_view text, const std::string& file) {
  const JsonObject object(text, file);
  Diagnostics diagnostics;
  ConfigFields fields(object, diagnostics);
  refuse_what_is_not_priced(fields);
  const Architecture* architecture = find_architecture(fields);
  const bool is_multimodal = architecture != nullptr && architecture->name == kMultimodalLlama4;
  if (!is_multimodal) {
    refuse_multimodal(fields);
  }
  if (architecture == nullptr) {
    // The keys of a class we do not know may mean anything: no further mistakes are made up from them.
    diagnostics.throw_if_any();
  }

  ModelSpec model;
  model.name = file;
  model.architecture = architecture->name;
  if (is_multimodal) {
    const JsonObject text_config = object.inside("text_config");
    ConfigFields text_fields(text_config, diagnostics);
    refuse_what_is_not_priced(text_fields);
    read_shape(text_fields, *architecture, model);
  } else {
    read_shape(fields, *architecture, model);
  }
  model.weight_bytes = read_weight_bytes(fields);
  model.kv_bytes = model.weight_bytes;
  read_quantization(fields, model);
  diagnostics.throw_if_any();
  return model;
}

ModelSpec read_hf_config_file(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::exists(path, unreadable)) {
    throw ConfigError(Position{path}, "no such file");
  }
  if (!std::filesystem::is_regular_file(path, unreadable)) {
    throw ConfigError(Position{path},
                      "not a regular file; expected a config.json or a directory that has one");
  }
  if (std::filesystem::file_size(path, unreadable) > kMaxConfigBytes) {
    throw ConfigError(Position{path}, "larger than " + std::to_string(kMaxConfigBytes >> 20) +
                                          " MiB, which no config.json is");
  }
  std::ifstream input(path, std::ios::binary);
  if (!input) {
    throw ConfigError(Position{path}, "cannot be read");
  }
  const std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  return parse_hf_config(text, path);
}

}  // namespace inferometer
