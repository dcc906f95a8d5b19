#include "costmodel/weight_count.hpp"

#include "base/units.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kGatedMatrices = 3;  // gate, up and down of a feed-forward network

/// Matrices of attention of one layer.
std::int64_t attention_matrices(const ModelSpec& model, std::int64_t tensor) {
  const std::int64_t heads = ceil_div(model.heads, tensor);
  if (!model.latent) {
    const std::int64_t kv_heads = ceil_div(model.kv_heads, tensor);
    return model.hidden * (heads + 2 * kv_heads) * model.head_dim + heads * model.head_dim * model.hidden;
  }
  const LatentAttention& latent = *model.latent;
  const std::int64_t query_width = heads * (latent.nope_dim + latent.rope_dim);
  const std::int64_t queries = latent.q_rank > 0 ? model.hidden * latent.q_rank + latent.q_rank * query_width
                                                 : model.hidden * query_width;
  return queries + model.hidden * (latent.kv_rank + latent.rope_dim) +
         latent.kv_rank * heads * (latent.nope_dim + latent.value_dim) +
         heads * latent.value_dim * model.hidden;
}

/// Norms and biases of one layer but those of its experts.
std::int64_t layer_vectors(const ModelSpec& model, std::int64_t tensor) {
  const std::int64_t heads = ceil_div(model.heads, tensor);
  std::int64_t count = 2 * model.hidden;
  if (model.latent) {
    count += model.latent->q_rank + model.latent->kv_rank;
  }
  if (model.qk_norm) {
    count += 2 * model.head_dim;
  }
  if (model.attention_bias) {
    count += (heads + 2 * ceil_div(model.kv_heads, tensor)) * model.head_dim;
  }
  if (model.output_bias) {
    count += model.hidden;
  }
  if (model.attention_sinks) {
    count += heads;
  }
  return count;
}

/// Of one layer with experts, added to what is counted of it.
void add_experts(const ModelSpec& model, const WeightSplit& split, WeightCount& layer) {
  const MixtureOfExperts& moe = *model.moe;
  const std::int64_t experts = ceil_div(moe.experts, split.expert);
  const std::int64_t columns = ceil_div(moe.ffn, split.expert_tensor);
  layer.expert_matrices += kGatedMatrices * experts * model.hidden * columns;
  layer.matrices += kGatedMatrices * model.hidden * ceil_div(moe.shared_ffn, split.tensor);
  layer.routers += model.hidden * (moe.experts + (moe.shared_gate ? 1 : 0));
  layer.vectors += moe.router_bias ? moe.experts : 0;
  layer.vectors += moe.expert_bias ? experts * (2 * columns + model.hidden) : 0;
}

}  // namespace

WeightCount count_layer_weights(const ModelSpec& model, const WeightSplit& split) {
  WeightCount experts;
  if (model.moe) {
    add_experts(model, split, experts);
  }
  const std::int64_t dense = kGatedMatrices * model.hidden * ceil_div(model.ffn, split.tensor);
  const std::int64_t with_experts = model.moe_layers();
  return {.matrices = model.layers * attention_matrices(model, split.tensor) + model.dense_layers() * dense +
                      with_experts * experts.matrices,
          .expert_matrices = with_experts * experts.expert_matrices,
          .routers = with_experts * experts.routers,
          .vectors = model.layers * layer_vectors(model, split.tensor) + with_experts * experts.vectors};
}

}  // namespace inferometer
