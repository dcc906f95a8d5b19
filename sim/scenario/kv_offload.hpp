#pragma once

// Host memory and disk for KV as a pool's engine asks for them: what they amount to in blocks and copies of
// them.

#include <optional>

#include "base/error.hpp"
#include "costmodel/memory_footprint.hpp"
#include "sim/kvcache/kv_offload.hpp"
#include "sim/scenario/pool_spec.hpp"

namespace inferometer {

/// Adds to `diagnostics`: what it does not go together with.
void check_kv_offload(const PoolSpec& pool, Diagnostics& diagnostics);

/// Nothing when the engine has none. Throws ConfigError when not one block fits somewhere.
std::optional<KvOffloadConfig> kv_offload_of(const PoolSpec& pool, const MemoryFootprint& memory);

}  // namespace inferometer
