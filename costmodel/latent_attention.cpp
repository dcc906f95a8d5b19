#include "costmodel/latent_attention.hpp"

#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

/// Elements of a token in the cache.
std::int64_t cached_width(const LatentAttention& latent) {
  return latent.kv_rank + latent.rope_dim;
}

std::int64_t query_width(const LatentAttention& latent) {
  return latent.nope_dim + latent.rope_dim;
}

bool is_measured(const LatentAttention& latent) {
  return static_cast<double>(latent.kv_rank) == kMlaLatent &&
         static_cast<double>(latent.rope_dim) == kMlaRope &&
         static_cast<double>(latent.nope_dim) == kMlaNope &&
         static_cast<double>(latent.value_dim) == kMlaValue;
}

/// For each of this GPU's heads rows x inputs times inputs x outputs.
Operator product_of_heads(std::string_view name, const ModelSpec& model, std::int64_t tensor_parallel,
                          std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const std::int64_t heads = shard(model, tensor_parallel).heads;
  return {.name = name,
          .family = OperatorFamily::gemm,
          .repeats = model.layers,
          .flops = Flops(static_cast<double>(2 * heads * rows * inputs * outputs)),
          .hbm_bytes = Bytes(kActivationBytes * heads * (inputs * outputs + rows * (inputs + outputs)))};
}

}  // namespace

AttentionUnits latent_prefill_units(const ModelSpec& model, std::int64_t heads) {
  const std::int64_t width = query_width(*model.latent) + model.latent->value_dim;
  return {.flops_per_pair = 2 * heads * width,
          .bytes_per_key = kActivationBytes * heads * width,
          .bytes_per_query = kActivationBytes * heads * width + model.kv_bytes * cached_width(*model.latent)};
}

AttentionUnits latent_decode_units(const ModelSpec& model, std::int64_t heads) {
  const std::int64_t width = cached_width(*model.latent) + model.latent->kv_rank;
  return {.flops_per_pair = 2 * heads * width,
          .bytes_per_key = model.kv_bytes * cached_width(*model.latent),
          .bytes_per_query = kActivationBytes * heads * width};
}

std::optional<KernelCall> latent_prefill_call(const ModelSpec& model, std::int64_t heads, double batch,
                                              double tokens) {
  if (!is_measured(*model.latent)) {
    return std::nullopt;
  }
  return call_of(KernelFamily::mla_prefill, attention_format(model),
                 {batch, tokens, 0, static_cast<double>(heads)});
}

std::optional<KernelCall> latent_decode_call(const ModelSpec& model, std::int64_t heads, double batch,
                                             double context) {
  if (!is_measured(*model.latent)) {
    return std::nullopt;
  }
  return call_of(KernelFamily::mla_decode, attention_format(model),
                 {batch, context, static_cast<double>(heads)});
}

std::vector<Operator> latent_projections(const ModelSpec& model, std::int64_t tensor_parallel,
                                         std::int64_t tokens) {
  const LatentAttention& latent = *model.latent;
  const std::int64_t heads = shard(model, tensor_parallel).heads;
  const std::int64_t layers = model.layers;
  const std::int64_t queries = heads * query_width(latent);
  const std::int64_t compressed = latent.q_rank + latent.kv_rank;
  const auto product = [&](std::string_view name, std::int64_t inputs, std::int64_t outputs) {
    return gemm(name, model.weight_format, model, layers, tokens, inputs, outputs);
  };
  const auto norm =
      elementwise("latent norm", layers, 4 * tokens * compressed, 2 * kActivationBytes * tokens * compressed);
  std::vector<Operator> list;
  if (latent.q_rank > 0) {
    list.push_back(product("q_a + kv_a projection", model.hidden, latent.q_rank + cached_width(latent)));
  } else {
    list.push_back(product("q projection", model.hidden, queries));
    list.push_back(product("kv_a projection", model.hidden, cached_width(latent)));
  }
  list.push_back(measured_elementwise("norm", tokens, compressed, norm));
  if (latent.q_rank > 0) {
    list.push_back(product("q_b projection", latent.q_rank, queries));
  }
  list.push_back(product(kOutputProjection, heads * latent.value_dim, model.hidden));
  return list;
}

Operator up_projection(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t rows) {
  const LatentAttention& latent = *model.latent;
  const std::int64_t heads = shard(model, tensor_parallel).heads;
  return gemm(kUpProjection, model.weight_format, model, model.layers, rows, latent.kv_rank,
              heads * (latent.nope_dim + latent.value_dim));
}

Operator query_absorption(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes) {
  return product_of_heads("query absorption", model, tensor_parallel, decodes, model.latent->nope_dim,
                          model.latent->kv_rank);
}

Operator value_absorption(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t decodes) {
  return product_of_heads("value absorption", model, tensor_parallel, decodes, model.latent->kv_rank,
                          model.latent->value_dim);
}

}  // namespace inferometer
