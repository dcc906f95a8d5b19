#pragma once

// The operators of an engine step, listed once from the architecture: what each computes, reads and writes on
// one GPU. Who uses it: the roofline (to give each a time), the step pricer (to tabulate them), the run's
// totals, reports. Activations are 16 bit. Formulas: the usual counts of a dense transformer with
// grouped-query attention, tensor parallel as in Megatron-LM (attention heads and FFN columns split, two
// all-reduces a layer, norms repeated). Stages of a pipeline hand over as vLLM does it (GroupCoordinator::
// send_tensor_dict with the tensor group as all_gather_group): hidden states and residual, 16 bit each, of
// which each rank sends its share to the same rank of the next stage, where they are gathered.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "costmodel/kernels/kernel_call.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// Operators of one family are kernels of one kind and share fitted constants.
enum class OperatorFamily { gemm, prefill_attention, decode_attention, elementwise, collective, transfer };

/// "gemm", "prefill attention", ...
std::string_view to_string(OperatorFamily family);

/// One operator, as one GPU runs it once. A step runs it `repeats` times.
struct Operator {
  std::string_view name;  ///< "qkv projection"
  OperatorFamily family = OperatorFamily::elementwise;
  std::int64_t repeats = 1;
  Flops flops{};
  Bytes hbm_bytes{};
  Bytes link_bytes{};  ///< what this GPU sends to its peers; collectives and transfers only
  /// Collectives: messages that a GPU sends one after the other when all stand in a ring.
  std::int64_t ring_steps = 0;
  /// Prefill attention: FLOPs if every new token attended one key more. Kernels work on tiles of keys, and
  /// the masked part of a tile costs as much as the rest.
  Flops flops_per_key{};
  std::int64_t sequence_heads = 0;   ///< decode attention: sequences x KV heads of this GPU
  bool shares_launch = false;        ///< runs within the kernel of another operator: no start-up of its own
  std::optional<KernelCall> call{};  ///< what measurements know it as; none for what nobody measured
};

/// Per-GPU shares of a model. Heads are split; KV heads are split while there are enough of them, repeated
/// beyond; FFN columns and vocabulary rows are split, rounded up.
struct ModelShard {
  std::int64_t heads, kv_heads, ffn, vocab;
};

/// Largest degree of tensor parallelism. A group of more than kMaxTensorParallel spans nodes.
inline constexpr std::int64_t kLargestTensorGroup = 64;

/// Throws ConfigError when the model cannot be split so: degree outside 1..64, heads not divisible, or
/// neither of KV heads and degree divides the other. Says which degrees are possible.
ModelShard shard(const ModelSpec& model, std::int64_t tensor_parallel);

/// The error of a degree that is not possible; `most`: the largest one to name among those that are.
[[noreturn]] void throw_cannot_split(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t most);

/// (query, key) pairs that causal attention of a chunk visits: sum over new tokens i = 1..q of min(past + i,
/// window).
std::int64_t attention_pairs(const ChunkShape& chunk, std::optional<std::int64_t> window);
/// Tokens whose KV the chunk reads, new ones included: min(past + q, window + q - 1).
std::int64_t attention_keys(const ChunkShape& chunk, std::optional<std::int64_t> window);

/// What depends on the number of tokens alone: embedding, norms, projections, FFN, all-reduces; of a stage of
/// a pipeline, what it gathers at its beginning and sends on at its end. In order of execution.
std::vector<Operator> token_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                      std::int64_t tokens);

/// What depends on the number of sampled rows alone: lm_head, logits gather, sampling. Empty for no rows, and
/// for a stage that is not the last.
std::vector<Operator> row_operators(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t rows);

/// Attention over prompt chunks. Precondition: at least one chunk.
Operator prefill_attention(const ModelSpec& model, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks);

/// Attention of `decodes` sequences over `context` tokens in all. `beside_prefill`: in the same kernel as the
/// chunks.
Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes,
                          std::int64_t context, bool beside_prefill);
/// Of the decodes of a step, whatever number of positions each runs: KV is read once for all of them.
Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, const StepShape& shape);

/// The names of the two.
inline constexpr std::string_view kPrefillAttention = "prefill attention";
inline constexpr std::string_view kDecodeAttention = "decode attention";

/// Every operator of a step, in order of execution. Precondition: the step has at least one token. O(chunks).
std::vector<Operator> step_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                     const StepShape& shape);

/// Sums over a step, repeats included.
Flops total_flops(std::span<const Operator> operators);
Bytes total_hbm_bytes(std::span<const Operator> operators);

}  // namespace inferometer
