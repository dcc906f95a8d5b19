#pragma once

// A pool of replicas as the scenario asks for it, with what the scenario says for all of them filled in.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/model_split.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/cluster/cluster_setup.hpp"
#include "sim/scenario/speculation.hpp"

namespace inferometer {

struct PoolSpec {
  PoolRole role = PoolRole::mixed;
  std::int64_t replicas = 1;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t attention_data_parallel = 1;
  std::int64_t expert_parallel = 1;
  double straggler = 1;
  double step_time = 1;  ///< of its steps, in runs that ask what longer or shorter ones change
  GpuSpec gpu;           ///< with the scenario's price for it, when it gives one
  ModelSpec model;       ///< in the number formats of the pool's engine
  Values engine;         ///< with a batch policy
  Values cost_model;
  std::optional<SpeculationSpec> speculation;
  bool own_nodes = false;           ///< shares none with another pool
  std::optional<std::string> node;  ///< cluster description of its nodes, when the pool names one
  /// Where mistakes in it are reported: its GPU, degrees of parallelism or node, in the pool or else in
  /// `hardware`.
  Position gpu_at, tensor_at, pipeline_at, attention_at, expert_at, node_at, replicas_at;

  [[nodiscard]] ModelSplit split() const {
    return {tensor_parallel, attention_data_parallel, expert_parallel};
  }
  [[nodiscard]] std::int64_t gpus_per_stage() const { return tensor_parallel * attention_data_parallel; }
  [[nodiscard]] std::int64_t gpus_per_replica() const { return gpus_per_stage() * pipeline_parallel; }
};

/// Of the pool's section `cost_model`, with what its engine decides of it.
CostOptions cost_options_of(const PoolSpec& pool);

/// Whether the scenario has pools for prefill and decode.
bool has_prefill_and_decode(const Values& scenario);

/// One mixed pool of one replica when the scenario names none. Adds to `diagnostics`: GPUs that are not
/// known; pools that the policy has no use for or misses. `model`: as its checkpoint has it.
std::vector<PoolSpec> read_pools(const Values& scenario, const ModelSpec& model, Diagnostics& diagnostics);

}  // namespace inferometer
