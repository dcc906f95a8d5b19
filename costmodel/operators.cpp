#include "costmodel/operators.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "base/check.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kCheckpointFormat = "bf16";  // 16 bit, or whatever the checkpoint says
constexpr std::int64_t kActivationBytes = 2;
constexpr std::int64_t kTensorsBetweenStages = 2;  // hidden states and residual
constexpr std::int64_t kLogitBytes = 4;            // logits are upcast to 32 bit before sampling
// Temperature in place (read, write), then one read for the arg max with noise. Top-p and top-k sort on top
// of that.
constexpr std::int64_t kSamplingPasses = 3;
constexpr std::int64_t kSamplingFlopsPerLogit = 10;

Flops flops(std::int64_t count) {
  return Flops(static_cast<double>(count));
}

Operator elementwise(std::string_view name, std::int64_t repeats, std::int64_t flop_count,
                     std::int64_t bytes) {
  return {.name = name,
          .family = OperatorFamily::elementwise,
          .repeats = repeats,
          .flops = flops(flop_count),
          .hbm_bytes = Bytes(bytes)};
}

KernelCall call_of(KernelFamily family, std::string_view variant, std::initializer_list<double> axes) {
  KernelCall call{.family = family, .variant = std::string(variant)};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

/// An elementwise operator that measurements know by a name of their own.
Operator measured_elementwise(std::string_view variant, std::int64_t tokens, std::int64_t width,
                              Operator part) {
  part.call =
      call_of(KernelFamily::elementwise, variant, {static_cast<double>(tokens), static_cast<double>(width)});
  return part;
}

/// rows x inputs times inputs x outputs, weights read once.
Operator gemm(std::string_view name, std::string_view format, const ModelSpec& model, std::int64_t repeats,
              std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const bool is_checkpoint = format == kCheckpointFormat;
  const WeightFormat& bytes = weight_format(format);
  const double weights = static_cast<double>(inputs * outputs) *
                         (is_checkpoint ? static_cast<double>(model.weight_bytes) : bytes.weight_bytes);
  const double activations = static_cast<double>(rows) * (bytes.input_bytes * static_cast<double>(inputs) +
                                                          static_cast<double>(kActivationBytes * outputs));
  return {.name = name,
          .family = OperatorFamily::gemm,
          .repeats = repeats,
          .flops = flops(2 * rows * inputs * outputs),
          .hbm_bytes = Bytes(static_cast<std::int64_t>(std::ceil(weights) + activations)),
          .call = call_of(
              KernelFamily::gemm, format,
              {static_cast<double>(rows), static_cast<double>(outputs), static_cast<double>(inputs)})};
}

std::string_view attention_format(const ModelSpec& model) {
  return model.kv_bytes == 1 ? "fp8_kv" : "bf16";
}

/// A bias is added in the GEMM's last stage: one addition an output, one read of the bias itself.
void add_bias(Operator& product, const ModelSpec& model, std::int64_t rows, std::int64_t outputs) {
  product.flops += flops(rows * outputs);
  product.hbm_bytes += Bytes(model.weight_bytes * outputs);
}

/// Every algorithm sends at least 2 (n - 1) / n of the array over each link.
Operator all_reduce(std::int64_t repeats, std::int64_t gpus, std::int64_t bytes) {
  return {.name = "all-reduce",
          .family = OperatorFamily::collective,
          .repeats = repeats,
          .link_bytes = Bytes(2 * (gpus - 1) * bytes / gpus),
          .ring_steps = 2 * (gpus - 1),
          .call = call_of(KernelFamily::collective, "all_reduce",
                          {static_cast<double>(gpus), static_cast<double>(bytes)})};
}

/// Every GPU has `share` bytes and gets those of all others.
Operator all_gather(std::string_view name, std::int64_t repeats, std::int64_t gpus, std::int64_t share) {
  return {.name = name,
          .family = OperatorFamily::collective,
          .repeats = repeats,
          .link_bytes = Bytes((gpus - 1) * share),
          .ring_steps = gpus - 1,
          .call = call_of(KernelFamily::collective, "all_gather",
                          {static_cast<double>(gpus), static_cast<double>(gpus * share)})};
}

}  // namespace

std::string_view to_string(OperatorFamily family) {
  switch (family) {
    case OperatorFamily::gemm:
      return "gemm";
    case OperatorFamily::prefill_attention:
      return "prefill attention";
    case OperatorFamily::decode_attention:
      return "decode attention";
    case OperatorFamily::elementwise:
      return "elementwise";
    case OperatorFamily::collective:
      return "collective";
    case OperatorFamily::transfer:
      return "transfer";
  }
  check_failed("family", __FILE__, __LINE__, "unknown operator family");
}

std::int64_t attention_pairs(const ChunkShape& chunk, std::optional<std::int64_t> window) {
  const std::int64_t q = chunk.tokens;
  const std::int64_t limit = window.value_or(chunk.past + q);
  const std::int64_t growing =
      std::clamp<std::int64_t>(limit - chunk.past, 0, q);  // tokens that see their whole past
  return growing * chunk.past + growing * (growing + 1) / 2 + (q - growing) * limit;
}

std::int64_t attention_keys(const ChunkShape& chunk, std::optional<std::int64_t> window) {
  const std::int64_t all = chunk.past + chunk.tokens;
  return window ? std::min(all, *window + chunk.tokens - 1) : all;
}

std::vector<Operator> token_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                      std::int64_t tokens) {
  INFEROMETER_CHECK(tokens >= 1, "a step has at least one token");
  const ModelShard local = shard(model, tensor_parallel);
  const std::int64_t layers = model.layers;
  const std::int64_t width = model.hidden;
  const std::int64_t query_width = local.heads * model.head_dim;
  const std::int64_t kv_width = local.kv_heads * model.head_dim;
  const std::int64_t rotated_width = query_width + kv_width;
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
  Operator qkv =
      gemm("qkv projection", model.weight_format, model, layers, tokens, width, query_width + 2 * kv_width);
  if (model.attention_bias) {
    add_bias(qkv, model, tokens, query_width + 2 * kv_width);
  }
  list.push_back(qkv);
  if (model.qk_norm) {
    list.push_back(measured_elementwise("norm", tokens, rotated_width,
                                        elementwise("qk norm", layers, 4 * tokens * rotated_width,
                                                    2 * kActivationBytes * tokens * rotated_width)));
  }
  list.push_back(measured_elementwise(
      "rope", tokens, rotated_width,
      elementwise("rope + kv write", layers, 6 * tokens * rotated_width,
                  2 * kActivationBytes * tokens * rotated_width + 2 * model.kv_bytes * tokens * kv_width)));
  Operator output = gemm("o projection", model.weight_format, model, layers, tokens, query_width, width);
  if (model.output_bias) {
    add_bias(output, model, tokens, width);
  }
  list.push_back(output);
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

Operator prefill_attention(const ModelSpec& model, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks) {
  const ModelShard local = shard(model, tensor_parallel);
  const std::int64_t query_width = local.heads * model.head_dim;
  std::int64_t pairs = 0;
  std::int64_t keys = 0;
  std::int64_t tokens = 0;
  for (const ChunkShape& chunk : chunks) {
    pairs += attention_pairs(chunk, model.sliding_window);
    keys += attention_keys(chunk, model.sliding_window);
    tokens += chunk.tokens;
  }
  // As measurements know it: whole prompts, with as many tokens and as many keys for each on average.
  double twice_keys = 0;
  for (const ChunkShape& chunk : chunks) {
    twice_keys += static_cast<double>(chunk.tokens) * static_cast<double>(chunk.tokens + 2 * chunk.past);
  }
  const double length = twice_keys / static_cast<double>(tokens);
  // Scores and their product with the values: 2 FLOPs each for every pair and element.
  const Flops flops_per_pair = flops(4 * query_width);
  return {.name = kPrefillAttention,
          .family = OperatorFamily::prefill_attention,
          .repeats = model.layers,
          .flops = flops_per_pair * static_cast<double>(pairs),
          .hbm_bytes = Bytes(2 * model.kv_bytes * keys * local.kv_heads * model.head_dim +
                             2 * kActivationBytes * tokens * query_width),
          .flops_per_key = flops_per_pair * static_cast<double>(tokens),
          .call = call_of(KernelFamily::prefill_attention, attention_format(model),
                          {static_cast<double>(tokens) / length, length, 0, static_cast<double>(local.heads),
                           static_cast<double>(local.kv_heads), static_cast<double>(model.head_dim),
                           static_cast<double>(model.sliding_window.value_or(0))})};
}

Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes,
                          std::int64_t context, bool beside_prefill) {
  const ModelShard local = shard(model, tensor_parallel);
  const std::int64_t query_width = local.heads * model.head_dim;
  return {.name = kDecodeAttention,
          .family = OperatorFamily::decode_attention,
          .repeats = model.layers,
          .flops = flops(4 * query_width) * static_cast<double>(context),
          .hbm_bytes = Bytes(2 * model.kv_bytes * context * local.kv_heads * model.head_dim +
                             2 * kActivationBytes * decodes * query_width),
          .sequence_heads = decodes * local.kv_heads,
          .shares_launch = beside_prefill,
          .call = call_of(
              KernelFamily::decode_attention, attention_format(model),
              {static_cast<double>(decodes),
               static_cast<double>(context) / static_cast<double>(std::max<std::int64_t>(decodes, 1)),
               static_cast<double>(local.heads), static_cast<double>(local.kv_heads),
               static_cast<double>(model.head_dim), static_cast<double>(model.sliding_window.value_or(0))})};
}

Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, const StepShape& shape) {
  const std::int64_t keys = shape.decode_keys();
  Operator part = decode_attention(model, tensor_parallel, shape.decodes, keys, !shape.chunks.empty());
  if (shape.queries > 1) {
    const std::int64_t query_width = shard(model, tensor_parallel).heads * model.head_dim;
    part.flops = flops(4 * query_width) * static_cast<double>(shape.decode_pairs());
    part.hbm_bytes += Bytes(2 * kActivationBytes * (shape.decode_tokens() - shape.decodes) * query_width);
  }
  return part;
}

std::vector<Operator> step_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                     const StepShape& shape) {
  std::vector<Operator> list = token_operators(model, tensor_parallel, shape.tokens());
  std::vector<Operator> attention;
  if (!shape.chunks.empty()) {
    attention.push_back(prefill_attention(model, tensor_parallel, shape.chunks));
  }
  if (shape.decodes > 0) {
    attention.push_back(decode_attention(model, tensor_parallel, shape));
  }
  const auto output =
      std::find_if(list.begin(), list.end(), [](const Operator& o) { return o.name == "o projection"; });
  list.insert(output, attention.begin(), attention.end());
  const std::vector<Operator> rows = row_operators(model, tensor_parallel, shape.sampled_rows);
  list.insert(list.end(), rows.begin(), rows.end());
  return list;
}

Flops total_flops(std::span<const Operator> operators) {
  Flops sum;
  for (const Operator& part : operators) {
    sum += part.flops * static_cast<double>(part.repeats);
  }
  return sum;
}

Bytes total_hbm_bytes(std::span<const Operator> operators) {
  Bytes sum;
  for (const Operator& part : operators) {
    sum += part.hbm_bytes * part.repeats;
  }
  return sum;
}

}  // namespace inferometer
