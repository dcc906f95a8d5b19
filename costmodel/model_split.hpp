#pragma once

// How the layers of a replica's stage are split over its GPUs. Who uses it: the lists of operators, the
// memory footprint, everything that prices or counts them.

#include <cstdint>

#include "costmodel/model_spec.hpp"

namespace inferometer {

/// `attention_data` ranks of `tensor` GPUs each. With one rank this is plain tensor parallelism, with or
/// without experts dealt out. With more, each rank holds all of attention, dense layers and shared experts,
/// split over its own GPUs, and the KV cache of its own sequences; the routed experts are spread over the
/// GPUs of all ranks (vLLM: --data-parallel-size with a mixture of experts).
struct ModelSplit {
  std::int64_t tensor = 1;          ///< attention heads, columns of feed-forward networks, vocabulary
  std::int64_t attention_data = 1;  ///< ranks
  std::int64_t expert = 1;          ///< groups of GPUs that hold different experts; a divisor of gpus()

  /// Tensor parallelism alone.
  ModelSplit(std::int64_t tensor_parallel) : tensor(tensor_parallel) {}  // NOLINT: a degree is a split
  ModelSplit(std::int64_t tensor_parallel, std::int64_t attention_ranks, std::int64_t expert_groups)
      : tensor(tensor_parallel), attention_data(attention_ranks), expert(expert_groups) {}

  /// Of the stage.
  [[nodiscard]] std::int64_t gpus() const { return tensor * attention_data; }
  /// GPUs over which each expert's columns are split.
  [[nodiscard]] std::int64_t expert_tensor() const { return gpus() / expert; }
  friend bool operator==(const ModelSplit&, const ModelSplit&) = default;
};

/// Ranks of attention at most, as many as a scenario may ask for: products of degrees stay small numbers.
inline constexpr std::int64_t kMostAttentionRanks = 64;

/// Throws ConfigError: degrees of experts or ranks for a dense model, ranks out of range, experts that the
/// groups do not divide, groups that do not divide the GPUs, or, with several ranks, groups that are neither
/// one nor all GPUs.
void check_experts(const ModelSpec& model, const ModelSplit& split);

}  // namespace inferometer
