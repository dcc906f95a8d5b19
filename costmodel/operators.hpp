#pragma once

// The operators of an engine step, listed once from the architecture: what each computes, reads and writes on
// one GPU. Who uses it: the roofline (to give each a time), the step pricer (to tabulate them), the run's
// totals, reports. Activations are 16 bit. Formulas: the usual counts of a dense transformer with
// grouped-query attention, tensor parallel as in Megatron-LM (attention heads and FFN columns split, two
// all-reduces a layer, norms repeated). Stages of a pipeline hand over as vLLM does it (GroupCoordinator::
// send_tensor_dict with the tensor group as all_gather_group): hidden states and residual, 16 bit each, of
// which each rank sends its share to the same rank of the next stage, where they are gathered. Counts of
// tokens and rows are those of the whole replica; with several ranks of attention (costmodel/model_split.hpp)
// the operators are those of the fullest one, of which each has as many (costmodel/attention_rank.hpp).

#include <cstdint>
#include <vector>

#include "costmodel/attention_operators.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/model_split.hpp"
#include "costmodel/operator.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

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

/// What depends on the number of tokens alone: embedding, norms, projections, FFN, all-reduces; of a stage of
/// a pipeline, what it gathers at its beginning and sends on at its end. In order of execution.
std::vector<Operator> token_operators(const ModelSpec& model, const ModelSplit& split, std::int64_t tokens);

/// What depends on the number of sampled rows alone: lm_head, logits gather, sampling. Empty for no rows, and
/// for a stage that is not the last.
std::vector<Operator> row_operators(const ModelSpec& model, const ModelSplit& split, std::int64_t rows);

/// Every operator of a step, in order of execution. Precondition: the step has at least one token. O(chunks).
std::vector<Operator> step_operators(const ModelSpec& model, const ModelSplit& split, const StepShape& shape);

}  // namespace inferometer
