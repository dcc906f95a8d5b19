#pragma once

#include <cstdint>
#include <span>

namespace inferometer {

/// A run of new prompt tokens of one sequence, above what is already in its KV cache.
struct ChunkShape {
  std::int64_t tokens = 0;  ///< new tokens, >= 1
  std::int64_t past = 0;    ///< tokens already cached
};

/// What a step computes, as far as its cost depends on it. All counts are of whole sequences and tokens,
/// before any split over GPUs. A step has at least one token.
struct StepShape {
  std::int64_t decodes = 0;         ///< sequences that run one token each
  std::int64_t decode_context = 0;  ///< sum over them of attended tokens: min(cached + 1, sliding window)
  std::int64_t sampled_rows = 0;    ///< sequences that emit a token at the end (rows of lm_head)
  std::span<const ChunkShape> chunks{};

  [[nodiscard]] std::int64_t chunk_tokens() const {
    std::int64_t sum = 0;
    for (const ChunkShape& chunk : chunks) {
      sum += chunk.tokens;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t tokens() const { return decodes + chunk_tokens(); }
};

}  // namespace inferometer
