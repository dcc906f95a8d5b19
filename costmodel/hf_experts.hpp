#pragma once

// How a config.json describes routed experts. Every family has names of its own for the same few figures, and
// its own rule for which layers have experts at all.

#include "costmodel/config_fields.hpp"
#include "costmodel/model_spec.hpp"

namespace inferometer {

enum class ExpertRule {
  none,       ///< a dense model
  mixtral,    ///< num_local_experts of intermediate_size, on every layer
  qwen2,      ///< num_experts of moe_intermediate_size and one shared with a gate; decoder_sparse_step
  qwen3,      ///< the same without a shared expert
  gpt_oss,    ///< as mixtral, with biases
  llama4,     ///< one shared expert; interleave_moe_layer_step; dense layers of intermediate_size_mlp
  deepseek2,  ///< n_routed_experts and n_shared_experts; the first layers are dense
  deepseek3,  ///< the same, with a correction of the router's scores
};

/// Sets model.moe and model.ffn. Precondition: model.layers is read.
void read_feed_forward(ConfigFields& fields, ExpertRule rule, ModelSpec& model);

}  // namespace inferometer
