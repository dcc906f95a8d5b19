#pragma once

// Host memory to which running sequences are swapped out when KV blocks run out, and from which they come
// back to go on where they were, as vLLM V0 has it (core/scheduler.py, SWAPPED; worker/cache_engine.py).
// Copies are made ahead of the model, on its stream: the step that begins with them takes so much longer.
// Each GPU copies its shard of every block, all GPUs at once, so that one link stands for all.

#include <cstdint>

#include "base/units.hpp"

namespace inferometer {

struct KvSwapConfig {
  std::int64_t blocks = 0;  ///< that host memory holds; at least one
  Duration block_copy{};    ///< of one block, either way; more than 0
};

struct KvSwapCounts {
  std::int64_t swapped_out = 0;  ///< times that a sequence was
  std::int64_t swapped_in = 0;
  std::int64_t out_blocks = 0;
  std::int64_t in_blocks = 0;
  std::int64_t recomputed = 0;  ///< sequences that lost their KV, as host memory had no room for it
  Duration copying{};           ///< both ways

  friend KvSwapCounts operator+(const KvSwapCounts& a, const KvSwapCounts& b) {
    return {a.swapped_out + b.swapped_out, a.swapped_in + b.swapped_in, a.out_blocks + b.out_blocks,
            a.in_blocks + b.in_blocks,     a.recomputed + b.recomputed, a.copying + b.copying};
  }
  friend bool operator==(const KvSwapCounts&, const KvSwapCounts&) = default;
};

}  // namespace inferometer
