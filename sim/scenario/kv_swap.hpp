#pragma once

// Host memory for preempted sequences as a pool's engine asks for it, in blocks and copies of them.

#include <optional>

#include "base/error.hpp"
#include "costmodel/memory_footprint.hpp"
#include "sim/batch/kv_swap.hpp"
#include "sim/scenario/pool_spec.hpp"

namespace inferometer {

/// Adds to `diagnostics`: what swapping does not go together with.
void check_kv_swap(const PoolSpec& pool, Diagnostics& diagnostics);

/// Nothing when the policy does not swap. Throws ConfigError when not one block fits.
std::optional<KvSwapConfig> kv_swap_of(const PoolSpec& pool, const MemoryFootprint& memory);

}  // namespace inferometer
