#pragma once

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, 2.1): keys and values of all heads are made
// from one compressed vector a token, which alone is cached, with one key that carries the position. Prompts
// make the keys and values of every head from it, for what is cached already in each chunk again (the form of
// multi-head attention); decodes multiply queries and outputs by those matrices instead and attend to the
// compressed vectors (the absorbed form). So vLLM's MLACommonImpl and TensorRT-LLM do it. A tensor group
// splits the heads; each GPU makes and holds the compressed vectors whole. Who uses it:
// attention_operators.hpp. All of a layer, one GPU's share.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "costmodel/operator.hpp"
#include "costmodel/operator_parts.hpp"

namespace inferometer {

// All below: precondition model.latent. `heads`: of this GPU.

/// Queries of nope_dim + rope_dim, values of value_dim: 2 H (192 + 128) FLOPs a pair in DeepSeek-V3. Rotary
/// embedding and cache write run in the same kernels, as measurements have it (kernels/kernel_work.hpp).
AttentionUnits latent_prefill_units(const ModelSpec& model, std::int64_t heads);
/// All heads read the same kv_rank + rope_dim elements: 2 H (576 + 512) FLOPs and 576 elements a key.
AttentionUnits latent_decode_units(const ModelSpec& model, std::int64_t heads);

/// The same as measurements know it: `batch` sequences of `tokens` new tokens, or over `context` tokens. None
/// for other sizes than DeepSeek's, which alone were measured.
std::optional<KernelCall> latent_prefill_call(const ModelSpec& model, std::int64_t heads, double batch,
                                              double tokens);
std::optional<KernelCall> latent_decode_call(const ModelSpec& model, std::int64_t heads, double batch,
                                             double context);

/// What depends on the number of tokens alone, as attention_projections() has it: compression of queries and
/// of keys and values in one product, whole on every GPU, its norms, queries of all heads, output projection.
std::vector<Operator> latent_projections(const ModelSpec& model, std::int64_t tensor_parallel,
                                         std::int64_t tokens);

inline constexpr std::string_view kUpProjection = "kv_b projection";

/// Keys and values of all heads for `rows` tokens: those of the chunks and all cached ones before them.
Operator up_projection(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t rows);

/// Queries into the compressed space and attended vectors out of it: a product for each head, all in one
/// kernel. Weights are 16 bit whatever the format of the layer's: engines keep them so, since batched
/// products take no scales.
Operator query_absorption(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes);
Operator value_absorption(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes);

}  // namespace inferometer
