#pragma once

// How many weights a model, or a stage of a pipeline, has in its layers, on one GPU of a replica. Who uses
// it: parameter counts, the memory footprint.

#include <cstdint>

#include "costmodel/model_spec.hpp"

namespace inferometer {

/// GPUs over which the parts of a layer are split. Attention heads, columns of feed-forward and of shared
/// experts over `tensor`; routed experts over `expert`, and columns of each over `expert_tensor`.
struct WeightSplit {
  std::int64_t tensor = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
};

/// Numbers of weights by the format that they are kept in.
struct WeightCount {
  std::int64_t matrices = 0;         ///< attention, feed-forward, shared experts: ModelSpec::weight_format
  std::int64_t expert_matrices = 0;  ///< routed experts: MixtureOfExperts::format
  std::int64_t routers = 0;          ///< choice of experts, gate of the shared ones: as in the checkpoint
  std::int64_t vectors = 0;          ///< norms, biases: as in the checkpoint
};

/// Of all layers, without embedding, last norm and lm_head. What cannot be split (norms, routers,
/// compressions of latent attention, the output bias) is on every GPU; what is left over is rounded up.
WeightCount count_layer_weights(const ModelSpec& model, const WeightSplit& split);

}  // namespace inferometer
