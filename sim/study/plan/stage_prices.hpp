#pragma once

// The operators of one stage of a pool's model, priced as the stage's pricer prices them, each by itself. Who
// uses it: the least costs of a pool.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/calibrated_gemm.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/graph_sizes.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "sim/scenario/pool_deployment.hpp"

namespace inferometer {

class StagePrices {
 public:
  /// `kernels`: of level calibrated, else nullptr; outlives this object, as `pool` does.
  StagePrices(const ModelSpec& stage, const PoolDeployment& pool, const CostOptions& options,
              const Profile& profile, std::shared_ptr<const KernelProfile> kernels);

  /// What depends on the tokens of a step alone, exactly as in a price without a straggler.
  [[nodiscard]] double token_seconds(std::int64_t tokens) const;
  /// What depends on the sampled rows alone, likewise; 0 for a stage without a head.
  [[nodiscard]] double row_seconds(std::int64_t rows) const;
  /// Of a step of more than `tokens` tokens, each costs at least that: arithmetic of products, traffic of
  /// elementwise operators; without start-up, weights and collectives.
  [[nodiscard]] double seconds_per_token_beyond(std::int64_t tokens) const;
  /// Attention of a chunk costs at least so much for each pair of a new token and a key that it attends.
  [[nodiscard]] double seconds_per_pair() const { return slow_ * pair_seconds_; }
  /// Attention of decoding sequences costs at least so much for each token attended.
  [[nodiscard]] double seconds_per_context_token() const { return slow_ * context_seconds_; }

 private:
  /// Of all layers at least: of a step with chunks, and of each pair of new token and key.
  struct PrefillAttention {
    double start_up = 0;
    double per_pair = 0;
  };

  [[nodiscard]] RoofTimes time(const Operator& part) const;
  [[nodiscard]] double sum_of(const std::vector<Operator>& operators) const;
  void add_products(const std::vector<Operator>& operators);
  /// Adds to what attention costs at least.
  void add_attention(const AttentionPart& part, const PoolDeployment& pool);
  [[nodiscard]] PrefillAttention calibrated_prefill(const PoolDeployment& pool, const Operator& one_layer,
                                                    std::optional<std::int64_t> window) const;
  [[nodiscard]] double calibrated_context_seconds(const PoolDeployment& pool, const Operator& one_layer,
                                                  std::optional<std::int64_t> window,
                                                  double prefill_start_up) const;

  ModelSpec stage_;
  ModelSplit split_;
  std::int64_t tensor_parallel_;
  double slow_ = 1;  // by what factor a straggler makes everything longer, at least
  std::shared_ptr<const GpuSpec> gpu_;
  std::shared_ptr<const Roofline> roofline_;
  std::shared_ptr<const KernelProfile> profile_;
  std::shared_ptr<const CalibratedKernels> kernels_;  // nullptr: all by the roofline
  std::vector<std::pair<std::string_view, CalibratedGemm>> products_;
  double pair_seconds_ = 0, context_seconds_ = 0;
};

/// By stage of the pool's pipeline.
std::vector<StagePrices> stage_prices(const PoolDeployment& pool, const CostOptions& options);

}  // namespace inferometer
