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
  std::int64_t decodes = 0;  ///< sequences that decode, `queries` tokens each
  /// Sum over them of the tokens that the first of those attends to: min(cached + 1, sliding window).
  std::int64_t decode_context = 0;
  std::int64_t sampled_rows = 0;  ///< rows of lm_head: tokens after which one is sampled
  std::span<const ChunkShape> chunks{};
  /// Successive positions that each decode runs: one, or with k drafted tokens to verify k + 1.
  std::int64_t queries = 1;

  [[nodiscard]] std::int64_t decode_tokens() const { return decodes * queries; }
  /// Tokens whose KV the decodes read: of each sequence once, for all its positions.
  [[nodiscard]] std::int64_t decode_keys() const { return decode_context + decodes * (queries - 1); }
  /// (query, key) pairs that they visit: position i sees i keys more than the first. (Within a full sliding
  /// window it sees no more than the first: counted too high there, by (queries - 1) / 2 of a window.)
  [[nodiscard]] std::int64_t decode_pairs() const {
    return decode_context * queries + decodes * queries * (queries - 1) / 2;
  }

  [[nodiscard]] std::int64_t chunk_tokens() const {
    std::int64_t sum = 0;
    for (const ChunkShape& chunk : chunks) {
      sum += chunk.tokens;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t tokens() const { return decode_tokens() + chunk_tokens(); }
};

}  // namespace inferometer
