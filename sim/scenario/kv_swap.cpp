#include "sim/scenario/kv_swap.hpp"

#include <algorithm>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace inferometer {
namespace {

bool swaps(const PoolSpec& pool) {
  const PolicyEntry* const policy = policy_registry().find(pool.engine.text("policy"));
  return policy != nullptr && policy->swaps && policy->swaps(pool.engine);
}

}  // namespace

void check_kv_swap(const PoolSpec& pool, Diagnostics& diagnostics) {
  if (!swaps(pool)) {
    return;
  }
  const Position at = pool.engine.where("preemption_mode");
  if (pool.pipeline_parallel > 1) {
    diagnostics.add(at, "engine.preemption_mode: swap needs pipeline_parallel 1, not " +
                            std::to_string(pool.pipeline_parallel) +
                            ": copies for stages that are at different steps are not modelled");
  }
  if (pool.attention_data_parallel > 1) {
    diagnostics.add(at, "engine.preemption_mode: swap needs attention_data_parallel 1, not " +
                            std::to_string(pool.attention_data_parallel) +
                            ": whose blocks are copied on which GPU is not modelled");
  }
}

std::optional<KvSwapConfig> kv_swap_of(const PoolSpec& pool, const MemoryFootprint& memory) {
  if (!swaps(pool)) {
    return std::nullopt;
  }
  const Bytes space = pool.engine.bytes("swap_space");
  const Bytes block = memory.kv_bytes_per_token * memory.block_size;
  if (space < block) {
    throw ConfigError(pool.engine.where("swap_space"),
                      "engine.swap_space is " + std::to_string(space.count()) +
                          " B for each GPU, but its part of one KV block takes " +
                          std::to_string(block.count()) + " B");
  }
  return KvSwapConfig{.blocks = space.count() / block.count(),
                      .block_copy = std::max(Duration(1), block / pool.gpu.pcie_per_direction)};
}

}  // namespace inferometer
