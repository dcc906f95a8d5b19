#include "costmodel/operators.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "costmodel/attention_rank.hpp"
#include "costmodel/feed_forward.hpp"
#include "costmodel/operator_parts.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kTensorsBetweenStages = 2;  // hidden states and residual
constexpr std::int64_t kLogitBytes = 4;            // logits are upcast to 32 bit before sampling
// Temperature in place (read, write), then one read for the arg max with noise. Top-p and top-k sort on top
// of that.
constexpr std::int64_t kSamplingPasses = 3;
constexpr std::int64_t kSamplingFlopsPerLogit = 10;

/// Attention ends in one; so does a dense layer, and one with experts, unless its tokens go back to their
/// rank on another way: then its shared experts do, if there are any.
std::int64_t all_reduces(const ModelSpec& model, const ModelSplit& split) {
  const bool is_exchanged = split.attention_data > 1;
  const bool has_shared = model.moe && model.moe->shared_ffn > 0;
  return model.layers + model.dense_layers() + (is_exchanged && !has_shared ? 0 : model.moe_layers());
}

}  // namespace

std::vector<Operator> token_operators(const ModelSpec& model, const ModelSplit& split,
                                      std::int64_t all_tokens) {
  INFEROMETER_CHECK(all_tokens >= 1, "a step has at least one token");
  shard(model, split.tensor);
  const std::int64_t tensor_parallel = split.tensor;
  const std::int64_t tokens = ceil_div(all_tokens, split.attention_data);
  const std::int64_t layers = model.layers;
  const std::int64_t width = model.hidden;
  const std::int64_t hidden_bytes = kActivationBytes * tokens * width;

  std::vector<Operator> list;
  if (model.has_embedding) {
    list.push_back(
        measured_elementwise("embedding", tokens, width, elementwise("embedding", 1, 0, 2 * hidden_bytes)));
    if (model.joined_inputs > 1) {
      list.push_back(gemm("joined input projection", kCheckpointFormat, model, 1, tokens,
                          model.joined_inputs * width, width));
    }
  } else if (tensor_parallel > 1) {
    list.push_back(all_gather("hidden states gather", kTensorsBetweenStages, tensor_parallel,
                              ceil_div(hidden_bytes, tensor_parallel)));
  }
  // Two a layer and the last: read the input and the residual stream, write the sum and the normed sum.
  const std::int64_t norms = 2 * layers + (model.has_head ? 1 : 0);
  list.push_back(
      measured_elementwise("add_norm", tokens, width,
                           elementwise("norm + residual", norms, 4 * tokens * width, 4 * hidden_bytes)));
  const std::vector<Operator> attention = attention_projections(model, tensor_parallel, tokens);
  list.insert(list.end(), attention.begin(), attention.end());
  const std::vector<Operator> feed_forward = feed_forward_operators(model, split, all_tokens);
  list.insert(list.end(), feed_forward.begin(), feed_forward.end());
  if (tensor_parallel > 1) {
    list.push_back(all_reduce(all_reduces(model, split), tensor_parallel, hidden_bytes));
  }
  if (!model.has_head) {
    list.push_back({.name = "send to next stage",
                    .family = OperatorFamily::transfer,
                    .link_bytes = Bytes(kTensorsBetweenStages * ceil_div(hidden_bytes, tensor_parallel))});
  }
  return list;
}

std::vector<Operator> row_operators(const ModelSpec& model, const ModelSplit& split, std::int64_t all_rows) {
  std::vector<Operator> list;
  if (all_rows == 0 || !model.has_head) {
    return list;
  }
  const std::int64_t tensor_parallel = split.tensor;
  const std::int64_t rows = ceil_div(all_rows, split.attention_data);
  const ModelShard local = shard(model, tensor_parallel);
  Operator head = gemm("lm_head", kCheckpointFormat, model, 1, rows, model.hidden, local.vocab);
  head.hbm_bytes += Bytes((kLogitBytes - kActivationBytes) * rows * local.vocab);
  list.push_back(head);
  if (tensor_parallel > 1) {
    list.push_back(all_gather("logits gather", 1, tensor_parallel, kActivationBytes * rows * local.vocab));
  }
  list.push_back(measured_elementwise("top_p", rows, model.vocab,
                                      elementwise("sampling", 1, kSamplingFlopsPerLogit * rows * model.vocab,
                                                  kSamplingPasses * kLogitBytes * rows * model.vocab)));
  return list;
}

std::vector<Operator> step_operators(const ModelSpec& model, const ModelSplit& split,
                                     const StepShape& shape) {
  std::vector<Operator> list = token_operators(model, split, shape.tokens());
  const AttentionRank rank(shape, split.attention_data);
  const std::vector<Operator> attention = attention_operators(model, split.tensor, rank.shape());
  const auto output =
      std::find_if(list.begin(), list.end(), [](const Operator& o) { return o.name == kOutputProjection; });
  list.insert(output, attention.begin(), attention.end());
  const std::vector<Operator> rows = row_operators(model, split, shape.sampled_rows);
  list.insert(list.end(), rows.begin(), rows.end());
  return list;
}

}  // namespace inferometer
