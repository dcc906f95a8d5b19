#pragma once

// What the settings of a pool amount to: memory, blocks and prices of one of its replicas.

#include <memory>
#include <string>
#include <vector>

#include "costmodel/memory_footprint.hpp"
#include "costmodel/parallelism.hpp"
#include "costmodel/step_pricer.hpp"
#include "sim/replica/replica.hpp"
#include "sim/scenario/pool_spec.hpp"

namespace inferometer {

struct PoolDeployment {
  PoolSpec spec;
  Parallelism parallelism;
  MemoryFootprint memory;
  ReplicaConfig replica;
  EngineLimits limits;
  PricerLimits pricer_limits;
  std::vector<std::shared_ptr<const StepPricer>> pricers;  ///< by stage of the pipeline

  /// What the prices of all stages stand on.
  [[nodiscard]] CostBasis cost_basis() const;
  /// Prompt tokens a second that one replica computes when every step is as full as it may be.
  [[nodiscard]] double prefill_tokens_per_second() const;
};

/// The registered batch policy of a pool's engine.
const PolicyEntry& policy_of(const PoolSpec& pool);

/// Throws ConfigError: the model does not fit (by how much, and over how many GPUs it would), limits that
/// contradict each other. Adds to `notes` what was decided for the user and may surprise.
PoolDeployment make_pool_deployment(const PoolSpec& pool, const Parallelism& parallelism,
                                    std::vector<std::string>& notes);

/// Replica `index` of all, whose observer must outlive it.
Replica make_replica(const PoolDeployment& pool, std::int32_t index, SimulationObserver& observer);

/// Pricers by stage, from measured kernels with errors drawn for a run behind an uncertainty interval.
using StagePricers = std::vector<std::shared_ptr<const StepPricer>>;

}  // namespace inferometer
