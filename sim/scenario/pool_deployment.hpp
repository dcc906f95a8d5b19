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

/// Pricers by stage of a pipeline; one without.
using StagePricers = std::vector<std::shared_ptr<const StepPricer>>;

struct PoolDeployment {
  PoolSpec spec;
  Parallelism parallelism;
  MemoryFootprint memory;
  ReplicaConfig replica;
  EngineLimits limits;  ///< of a replica; a micro-batch of a pipeline runs its share of the sequences
  PricerLimits pricer_limits;
  StagePricers pricers;

  /// What the prices of all stages stand on.
  [[nodiscard]] CostBasis cost_basis() const;
  /// Prompt tokens a second that one replica computes when every step is as full as it may be.
  [[nodiscard]] double prefill_tokens_per_second() const;
};

/// The registered batch policy of a pool's engine.
const PolicyEntry& policy_of(const PoolSpec& pool);

/// Throws ConfigError: the model does not fit (by how much, and over how many GPUs it would), limits that
/// contradict each other. Adds to `notes` what was decided for the user and may surprise.
/// `sibling`, when not null: the same pool but for its number of replicas, whose prices are then taken where
/// its GPUs are joined alike.
PoolDeployment make_pool_deployment(const PoolSpec& pool, const Parallelism& parallelism,
                                    std::vector<std::string>& notes, const PoolDeployment* sibling = nullptr);

/// Adds the micro-batches of replica `index` of all: one without a pipeline. `observer` outlives them.
void add_lanes(const PoolDeployment& pool, std::int32_t index, SimulationObserver& observer,
               std::vector<Replica>& lanes);

}  // namespace inferometer
