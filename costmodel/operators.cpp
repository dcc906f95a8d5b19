#include "costmodel/operators.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "costmodel/operator_parts.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kTensorsBetweenStages = 2;  // hidden states and residual
constexpr std::int64_t kLogitBytes = 4;            // logits are upcast to 32 bit before sampling
// Temperature in place (read, write), then one read for the arg max with noise. Top-p and top-k sort on top
// of that.
constexpr std::int64_t kSamplingPasses = 3;
constexpr std::int64_t kSamplingFlopsPerLogit = 10;

}  // namespace

std::vector<Operator> token_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                      std::int64_t tokens) {
  INFEROMETER_CHECK(tokens >= 1, "a step has at least one token");
  const ModelShard local = shard(model, tensor_parallel);
  const std::int64_t layers = model.layers;
  const std::int64_t width = model.hidden;
  const std::int64_t hidden_bytes = kActivationBytes * tokens * width;

  std::vector<Operator> list;
  if (model.has_embedding) {
    list.push_back(
        measured_elementwise("embedding", tokens, width, elementwise("embedding", 1, 0, 2 * hidden_bytes)));
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
  list.push_back(
      gemm("gate + up projection", model.weight_format, model, layers, tokens, width, 2 * local.ffn));
  list.push_back(measured_elementwise(
      "silu_mul", tokens, local.ffn,
      elementwise("silu x up", layers, 5 * tokens * local.ffn, 3 * kActivationBytes * tokens * local.ffn)));
  list.push_back(gemm("down projection", model.weight_format, model, layers, tokens, local.ffn, width));
  if (tensor_parallel > 1) {
    list.push_back(all_reduce(2 * layers, tensor_parallel, hidden_bytes));
  }
  if (!model.has_head) {
    list.push_back({.name = "send to next stage",
                    .family = OperatorFamily::transfer,
                    .link_bytes = Bytes(kTensorsBetweenStages * ceil_div(hidden_bytes, tensor_parallel))});
  }
  return list;
}

std::vector<Operator> row_operators(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t rows) {
  std::vector<Operator> list;
  if (rows == 0 || !model.has_head) {
    return list;
  }
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

std::vector<Operator> step_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                     const StepShape& shape) {
  std::vector<Operator> list = token_operators(model, tensor_parallel, shape.tokens());
  const std::vector<Operator> attention = attention_operators(model, tensor_parallel, shape);
  const auto output =
      std::find_if(list.begin(), list.end(), [](const Operator& o) { return o.name == kOutputProjection; });
  list.insert(output, attention.begin(), attention.end());
  const std::vector<Operator> rows = row_operators(model, tensor_parallel, shape.sampled_rows);
  list.insert(list.end(), rows.begin(), rows.end());
  return list;
}

}  // namespace inferometer
