#pragma once

// The architecture of a decoder-only transformer, read from a Hugging Face config.json: dense or a mixture of
// experts, with grouped-query or multi-head latent attention.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Routed experts in place of the feed-forward network of a layer: a router chooses some of them for each
/// token. Symbols of spec/scheduling-and-cost.md 2.2 in brackets.
struct MixtureOfExperts {
  std::int64_t experts = 0;            ///< [N] routed ones of a layer
  std::int64_t experts_per_token = 0;  ///< [k], 1..experts
  std::int64_t ffn = 0;                ///< [f_e] of one routed expert
  std::int64_t shared_ffn = 0;         ///< of all shared experts together, which every token passes; 0: none
  bool shared_gate = false;            ///< a weight for the shared experts' output, hidden x 1 (Qwen2-MoE)
  bool router_bias = false;            ///< one for each expert (gpt-oss; DeepSeek-V3's correction of scores)
  bool expert_bias = false;            ///< on gate, up and down of every expert (gpt-oss)
  std::vector<std::int64_t> dense_layers{};  ///< numbers, from 0, of layers without experts; sorted
  std::string format = "bf16";               ///< of the routed experts' matrices: see quantized()
  /// Exponent of the popularity of experts: the i-th most popular is chosen in proportion to i^-skew. 0: all
  /// are chosen as often.
  double skew = 0;
};

/// Multi-head latent attention (DeepSeek-V2): keys and values of all heads come from one compressed vector.
struct LatentAttention {
  std::int64_t q_rank = 0;   ///< of the compressed query; 0: queries are not compressed
  std::int64_t kv_rank = 0;  ///< of the compressed keys and values, which the cache holds
  std::int64_t rope_dim =
      0;  ///< of a head's query and of the one key that carry the position; cached as well
  std::int64_t nope_dim = 0;   ///< of a head's query and key without position
  std::int64_t value_dim = 0;  ///< of a head's value
};

/// Shape of a model, or of a stage of a pipeline: some of its layers, perhaps without what comes before or
/// after them. Symbols of spec/scheduling-and-cost.md 2.1 in brackets.
struct ModelSpec {
  std::string name;                ///< "llama-3-8b", or the path it was read from
  std::string architecture;        ///< Hugging Face class: "LlamaForCausalLM"
  std::int64_t layers = 0;         ///< [L]
  std::int64_t hidden = 0;         ///< [d]
  std::int64_t heads = 0;          ///< [h]
  std::int64_t kv_heads = 0;       ///< [kv]
  std::int64_t head_dim = 0;       ///< [e]; of latent attention that of a query, nope_dim + rope_dim
  std::int64_t ffn = 0;            ///< [f] of layers without experts
  std::int64_t vocab = 0;          ///< [V]
  std::int64_t max_positions = 0;  ///< longest context the model was made for
  bool tied_embeddings = false;
  bool qk_norm = false;                        ///< RMSNorm on query and key heads (Qwen3)
  bool attention_bias = false;                 ///< bias on Q, K, V (Qwen2.5) — see also output_bias
  bool output_bias = false;                    ///< bias on O as well
  bool attention_sinks = false;                ///< one learnt logit a head (gpt-oss)
  std::optional<std::int64_t> sliding_window;  ///< [W] on every layer but full_layers; absent: full attention
  std::vector<std::int64_t> full_layers{};     ///< numbers, from 0, of layers without the window; sorted
  std::optional<MixtureOfExperts> moe{};       ///< absent: a dense model
  std::optional<LatentAttention> latent{};     ///< absent: grouped-query attention
  std::int64_t prediction_layers = 0;          ///< layers that predict further tokens (MTP), not in `layers`
  std::int64_t weight_bytes = 2;               ///< per parameter of the checkpoint (bf16)
  std::string weight_format = "bf16";  ///< of the layers' matrices but routed experts: see quantized()
  std::int64_t kv_bytes = 2;           ///< per KV element
  bool has_embedding = true;           ///< false: a stage that others come before
  /// Vectors of the hidden size that a projection joins into the input of the first layer, of a module that
  /// drafts tokens: the embedding and what the target's last layer gave. 1: the embedding alone, as it is.
  std::int64_t joined_inputs = 1;
  bool has_head = true;  ///< final norm, lm_head, sampling; false: a stage that others come after

  [[nodiscard]] std::int64_t group_size() const { return heads / kv_heads; }  ///< [g], GQA
  [[nodiscard]] std::int64_t moe_layers() const;
  [[nodiscard]] std::int64_t dense_layers() const { return layers - moe_layers(); }
  /// How many of the layers have the sliding window.
  [[nodiscard]] std::int64_t windowed_layers() const;
  /// Tables of vocabulary x hidden: embedding and lm_head, one table when they are tied and in one stage.
  [[nodiscard]] std::int64_t vocabulary_tables() const;
  /// Parameters of the projection of joined inputs.
  [[nodiscard]] std::int64_t joined_projection() const {
    return joined_inputs > 1 ? joined_inputs * hidden * hidden : 0;
  }
  /// All parameters, embeddings, norms and biases included; without prediction layers.
  [[nodiscard]] std::int64_t parameters() const;
  /// Parameters that a token is multiplied by: matrices, lm_head included, of the routed experts those that
  /// it is routed to.
  [[nodiscard]] std::int64_t active_parameters() const;
  /// KV cache bytes a token takes on one GPU of `tensor_parallel`: KV heads are split while there are enough
  /// of them, replicated beyond: 2 * L * ceil(kv / tp) * e * kv_bytes. Latent attention keeps one compressed
  /// vector for all heads, on every GPU: L * (kv_rank + rope_dim) * kv_bytes.
  [[nodiscard]] Bytes kv_bytes_per_token(std::int64_t tensor_parallel = 1) const;
};

std::vector<std::string> builtin_model_names();

/// Words that quantized() takes: for weights, and for the KV cache.
std::span<const std::string_view> weight_quantizations();
std::span<const std::string_view> kv_cache_dtypes();

/// The model as it is served on a GPU: matrices of the layers in another format; embeddings, norms, routers
/// and lm_head as they are. Weights "none": as in the checkpoint; "fp8": weights and inputs of the products,
/// a scale a channel; "fp8_block": a scale for each 128 x 128 weights; weights only are "int4", a scale for
/// each group of 128, "nvfp4", one for each 16, and "mxfp4", one for each 32, which is of routed experts
/// alone where there are any. Where the GPU has no fp8 unit, fp8 is a format of weights only. KV cache
/// "auto": as the checkpoint; "fp8". Precondition: words of the two lists.
ModelSpec quantized(ModelSpec model, const GpuSpec& gpu, std::string_view weights, std::string_view kv_cache);

/// A built-in name, a config.json, or a directory that has one. Throws ConfigError: unknown name (nearest
/// suggested), unreadable JSON (file:line:column), an architecture we cannot price (says what is missing).
ModelSpec load_model(const std::string& name_or_path);

}  // namespace inferometer
