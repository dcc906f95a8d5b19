#pragma once

// Attention of an engine step, as operators: of layers with full attention or a sliding window, or some of
// both, with grouped-query heads or latent ones (latent_attention.hpp). Who uses it: operators.hpp, which
// lists all operators of a step, prices of attention, a run's totals.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "costmodel/operator.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// (query, key) pairs that causal attention of a chunk visits: sum over new tokens i = 1..q of min(past + i,
/// window).
std::int64_t attention_pairs(const ChunkShape& chunk, std::optional<std::int64_t> window);
/// Tokens whose KV the chunk reads, new ones included: min(past + q, window + q - 1).
std::int64_t attention_keys(const ChunkShape& chunk, std::optional<std::int64_t> window);
std::int64_t attention_keys(std::span<const ChunkShape> chunks, std::optional<std::int64_t> window);

/// The model with full attention on every layer: what one more key costs is asked of it.
ModelSpec unwindowed(ModelSpec model);

/// The names of attention where all layers attend alike, and otherwise of that of full attention.
inline constexpr std::string_view kPrefillAttention = "prefill attention";
inline constexpr std::string_view kDecodeAttention = "decode attention";

/// Layers that attend alike, with the names of their operators.
struct AttentionPart {
  ModelSpec layers;  ///< the model with these layers alone, of which only attention may be asked
  std::string_view prefill_name, decode_name;

  [[nodiscard]] bool is_windowed() const { return layers.sliding_window.has_value(); }
};

/// One part, or two where some layers have a sliding window and some have not.
std::vector<AttentionPart> attention_parts(const ModelSpec& model);

/// What of attention depends on the number of tokens alone: projections, rotary embedding, KV write. In order
/// of execution, the output projection last.
std::vector<Operator> attention_projections(const ModelSpec& model, std::int64_t tensor_parallel,
                                            std::int64_t tokens);

/// Attention over prompt chunks, of a part. Precondition: at least one chunk.
Operator prefill_attention(const ModelSpec& model, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks);

/// Attention of `decodes` sequences over `context` tokens in all, of a part. `beside_prefill`: in the same
/// kernel as the chunks.
Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes,
                          std::int64_t context, bool beside_prefill);

/// The same under the names of the part.
Operator prefill_attention(const AttentionPart& part, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks);
/// Of the decodes of a step, whatever number of positions each runs: KV is read once for all of them.
Operator decode_attention(const AttentionPart& part, std::int64_t tensor_parallel, const StepShape& shape);

/// What runs between the last two of attention_projections(), of all parts, in order of execution.
std::vector<Operator> attention_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                          const StepShape& shape);

}  // namespace inferometer
