#include "costmodel/attention_operators.hpp"

#include <algorithm>

#include "costmodel/latent_attention.hpp"
#include "costmodel/operator_parts.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kWindowedPrefill = "windowed prefill attention";
constexpr std::string_view kWindowedDecode = "windowed decode attention";

/// Scores and their product with the values: 2 FLOPs each for every pair and element of a head.
AttentionUnits grouped_units(const ModelSpec& model, const ModelShard& local) {
  const std::int64_t query_width = local.heads * model.head_dim;
  return {.flops_per_pair = 4 * query_width,
          .bytes_per_key = 2 * model.kv_bytes * local.kv_heads * model.head_dim,
          .bytes_per_query = 2 * kActivationBytes * query_width};
}

/// The axes from `next` on: heads, kv_heads, head_dim, window.
KernelCall with_heads(KernelCall call, std::size_t next, const ModelSpec& model, const ModelShard& local) {
  for (const std::int64_t size :
       {local.heads, local.kv_heads, model.head_dim, model.sliding_window.value_or(0)}) {
    call.axes.at(next++) = static_cast<double>(size);
  }
  return call;
}

}  // namespace

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

std::int64_t attention_keys(std::span<const ChunkShape> chunks, std::optional<std::int64_t> window) {
  std::int64_t keys = 0;
  for (const ChunkShape& chunk : chunks) {
    keys += attention_keys(chunk, window);
  }
  return keys;
}

ModelSpec unwindowed(ModelSpec model) {
  model.sliding_window.reset();
  model.full_layers.clear();
  return model;
}

std::vector<Operator> attention_projections(const ModelSpec& model, std::int64_t tensor_parallel,
                                            std::int64_t tokens) {
  if (model.latent) {
    return latent_projections(model, tensor_parallel, tokens);
  }
  const ModelShard local = shard(model, tensor_parallel);
  const std::int64_t layers = model.layers;
  const std::int64_t width = model.hidden;
  const std::int64_t query_width = local.heads * model.head_dim;
  const std::int64_t kv_width = local.kv_heads * model.head_dim;
  const std::int64_t rotated_width = query_width + kv_width;
  std::vector<Operator> list;
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
  Operator output = gemm(kOutputProjection, model.weight_format, model, layers, tokens, query_width, width);
  if (model.output_bias) {
    add_bias(output, model, tokens, width);
  }
  list.push_back(output);
  return list;
}

std::vector<AttentionPart> attention_parts(const ModelSpec& model) {
  const std::int64_t windowed = model.windowed_layers();
  if (windowed == 0) {
    return {{unwindowed(model), kPrefillAttention, kDecodeAttention}};
  }
  ModelSpec local = model;
  local.layers = windowed;
  local.full_layers.clear();
  if (windowed == model.layers) {
    return {{local, kPrefillAttention, kDecodeAttention}};
  }
  ModelSpec whole = unwindowed(model);
  whole.layers = model.layers - windowed;
  return {{whole, kPrefillAttention, kDecodeAttention}, {local, kWindowedPrefill, kWindowedDecode}};
}

Operator prefill_attention(const ModelSpec& model, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks) {
  const ModelShard local = shard(model, tensor_parallel);
  const AttentionUnits units =
      model.latent ? latent_prefill_units(model, local.heads) : grouped_units(model, local);
  std::int64_t pairs = 0;
  std::int64_t keys = 0;
  std::int64_t tokens = 0;
  double twice_keys = 0;
  for (const ChunkShape& chunk : chunks) {
    pairs += attention_pairs(chunk, model.sliding_window);
    keys += attention_keys(chunk, model.sliding_window);
    tokens += chunk.tokens;
    twice_keys += static_cast<double>(chunk.tokens) * static_cast<double>(chunk.tokens + 2 * chunk.past);
  }
  // As measurements know it: whole prompts, with as many tokens and as many keys for each on average.
  const double length = twice_keys / static_cast<double>(tokens);
  const double prompts = static_cast<double>(tokens) / length;
  return {.name = kPrefillAttention,
          .family = OperatorFamily::prefill_attention,
          .repeats = model.layers,
          .flops = Flops(static_cast<double>(units.flops_per_pair) * static_cast<double>(pairs)),
          .hbm_bytes = Bytes(units.bytes_per_key * keys + units.bytes_per_query * tokens),
          .flops_per_key = Flops(static_cast<double>(units.flops_per_pair * tokens)),
          .call = model.latent ? latent_prefill_call(model, local.heads, prompts, length)
                               : with_heads(call_of(KernelFamily::prefill_attention, attention_format(model),
                                                    {prompts, length, 0}),
                                            3, model, local)};
}

Operator decode_attention(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes,
                          std::int64_t context, bool beside_prefill) {
  const ModelShard local = shard(model, tensor_parallel);
  const AttentionUnits units =
      model.latent ? latent_decode_units(model, local.heads) : grouped_units(model, local);
  const auto batch = static_cast<double>(decodes);
  const double mean = static_cast<double>(context) / static_cast<double>(std::max<std::int64_t>(decodes, 1));
  return {.name = kDecodeAttention,
          .family = OperatorFamily::decode_attention,
          .repeats = model.layers,
          .flops = Flops(static_cast<double>(units.flops_per_pair) * static_cast<double>(context)),
          .hbm_bytes = Bytes(units.bytes_per_key * context + units.bytes_per_query * decodes),
          .sequence_heads = decodes * (model.latent ? 1 : local.kv_heads),
          .shares_launch = beside_prefill,
          .call = model.latent ? latent_decode_call(model, local.heads, batch, mean)
                               : with_heads(call_of(KernelFamily::decode_attention, attention_format(model),
                                                    {batch, mean}),
                                            2, model, local)};
}

Operator prefill_attention(const AttentionPart& part, std::int64_t tensor_parallel,
                           std::span<const ChunkShape> chunks) {
  Operator attention = prefill_attention(part.layers, tensor_parallel, chunks);
  attention.name = part.prefill_name;
  return attention;
}

Operator decode_attention(const AttentionPart& part, std::int64_t tensor_parallel, const StepShape& shape) {
  const DecodeShape decodes = part.is_windowed() ? shape.windowed_decodes() : shape.full_decodes();
  Operator attention = decode_attention(part.layers, tensor_parallel, decodes.sequences, decodes.keys(),
                                        !shape.chunks.empty());
  attention.name = part.decode_name;
  if (decodes.queries > 1) {
    const Operator one_pair = decode_attention(part.layers, tensor_parallel, 0, 1, false);
    const Operator one_query = decode_attention(part.layers, tensor_parallel, 1, 0, false);
    attention.flops = one_pair.flops * static_cast<double>(decodes.pairs());
    attention.hbm_bytes += one_query.hbm_bytes * (decodes.tokens() - decodes.sequences);
  }
  return attention;
}

std::vector<Operator> attention_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                          const StepShape& shape) {
  const std::vector<AttentionPart> parts = attention_parts(model);
  std::vector<Operator> list;
  if (!shape.chunks.empty()) {
    if (model.latent) {
      list.push_back(up_projection(model, tensor_parallel, attention_keys(shape.chunks, std::nullopt)));
    }
    for (const AttentionPart& part : parts) {
      list.push_back(prefill_attention(part, tensor_parallel, shape.chunks));
    }
  }
  if (shape.decodes > 0) {
    if (model.latent) {
      list.push_back(query_absorption(model, tensor_parallel, shape.decode_tokens()));
    }
    for (const AttentionPart& part : parts) {
      list.push_back(decode_attention(part, tensor_parallel, shape));
    }
    if (model.latent) {
      list.push_back(value_absorption(model, tensor_parallel, shape.decode_tokens()));
    }
  }
  return list;
}

}  // namespace inferometer
