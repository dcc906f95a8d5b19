#pragma once

// The architecture of a dense decoder-only transformer, read from a Hugging Face config.json.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Shape of a dense model, or of a stage of a pipeline: some of its layers, perhaps without what comes before
/// or after them. Symbols of spec/scheduling-and-cost.md 2.1 in brackets.
struct ModelSpec {
  std::string name;                ///< "llama-3-8b", or the path it was read from
  std::string architecture;        ///< Hugging Face class: "LlamaForCausalLM"
  std::int64_t layers = 0;         ///< [L]
  std::int64_t hidden = 0;         ///< [d]
  std::int64_t heads = 0;          ///< [h]
  std::int64_t kv_heads = 0;       ///< [kv]
  std::int64_t head_dim = 0;       ///< [e]
  std::int64_t ffn = 0;            ///< [f]
  std::int64_t vocab = 0;          ///< [V]
  std::int64_t max_positions = 0;  ///< longest context the model was made for
  bool tied_embeddings = false;
  bool qk_norm = false;                        ///< RMSNorm on query and key heads (Qwen3)
  bool attention_bias = false;                 ///< bias on Q, K, V (Qwen2.5) — see also output_bias
  bool output_bias = false;                    ///< bias on O as well
  std::optional<std::int64_t> sliding_window;  ///< [W] on every layer; absent: full attention
  std::int64_t weight_bytes = 2;               ///< per parameter of the checkpoint (bf16)
  std::string weight_format = "bf16";          ///< of the layers' matrices: see quantized()
  std::int64_t kv_bytes = 2;                   ///< per KV element
  bool has_embedding = true;                   ///< false: a stage that others come before
  /// Vectors of the hidden size that a projection joins into the input of the first layer, of a module that
  /// drafts tokens: the embedding and what the target's last layer gave. 1: the embedding alone, as it is.
  std::int64_t joined_inputs = 1;
  bool has_head = true;  ///< final norm, lm_head, sampling; false: a stage that others come after

  [[nodiscard]] std::int64_t group_size() const { return heads / kv_heads; }  ///< [g], GQA
  /// Tables of vocabulary x hidden: embedding and lm_head, one table when they are tied and in one stage.
  [[nodiscard]] std::int64_t vocabulary_tables() const;
  /// Parameters of the projection of joined inputs.
  [[nodiscard]] std::int64_t joined_projection() const {
    return joined_inputs > 1 ? joined_inputs * hidden * hidden : 0;
  }
  /// All parameters, embeddings, norms and biases included.
  [[nodiscard]] std::int64_t parameters() const;
  /// Parameters that take part in matrix products for every token, lm_head included.
  [[nodiscard]] std::int64_t matmul_parameters() const;
  /// KV cache bytes a token takes on one GPU of `tensor_parallel`: KV heads are split while there are enough
  /// of them, replicated beyond. 2 * L * ceil(kv / tp) * e * kv_bytes.
  [[nodiscard]] Bytes kv_bytes_per_token(std::int64_t tensor_parallel = 1) const;
};

std::vector<std::string> builtin_model_names();

/// Words that quantized() takes: for weights, and for the KV cache.
std::span<const std::string_view> weight_quantizations();
std::span<const std::string_view> kv_cache_dtypes();

/// The model as it is served on a GPU: matrices of the layers in another format, embeddings, norms and
/// lm_head as they are. Weights "none": as in the checkpoint; "fp8": weights and inputs of the products, a
/// scale a channel; "fp8_block": a scale for each 128 x 128 weights; "int4": weights only, a scale for each
/// group of 128. Where the GPU has no fp8 unit, fp8 is a format of weights only. KV cache "auto": as the
/// checkpoint; "fp8". Precondition: words of the two lists.
ModelSpec quantized(ModelSpec model, const GpuSpec& gpu, std::string_view weights, std::string_view kv_cache);

/// A built-in name, a config.json, or a directory that has one. Throws ConfigError: unknown name (nearest
/// suggested), unreadable JSON (file:line:column), an architecture we cannot price (says what is missing).
ModelSpec load_model(const std::string& name_or_path);

}  // namespace inferometer
