#pragma once

#include <cstdint>
#include <span>

namespace inferometer {

/// A run of new prompt tokens of one sequence, above what is already in its KV cache.
struct ChunkShape {
  std::int64_t tokens = 0;  ///< new tokens, >= 1
  std::int64_t past = 0;    ///< tokens already cached
};

/// Tokens that decoding sequences attend to, summed over them, by kind of layer.
struct ContextTokens {
  std::int64_t full = 0;      ///< in a layer of full attention: cached + 1
  std::int64_t windowed = 0;  ///< in one with a sliding window: min(cached + 1, window); 0: there is none

  constexpr ContextTokens& operator+=(const ContextTokens& more) {
    full += more.full;
    windowed += more.windowed;
    return *this;
  }
  constexpr ContextTokens& operator-=(const ContextTokens& less) { return *this += less * -1; }
  friend constexpr ContextTokens operator*(const ContextTokens& tokens, std::int64_t times) {
    return {tokens.full * times, tokens.windowed * times};
  }
  friend constexpr bool operator==(const ContextTokens&, const ContextTokens&) = default;
};

/// What a step computes, as far as its cost depends on it. All counts are of whole sequences and tokens,
/// before any split over GPUs. A step has at least one token.
struct StepShape {
  std::int64_t decodes = 0;         ///< sequences that run one token each
  std::int64_t decode_context = 0;  ///< ContextTokens::full of theirs
  std::int64_t sampled_rows = 0;    ///< sequences that emit a token at the end (rows of lm_head)
  std::span<const ChunkShape> chunks{};
  std::int64_t decode_window_context = 0;  ///< ContextTokens::windowed of theirs

  [[nodiscard]] std::int64_t chunk_tokens() const {
    std::int64_t sum = 0;
    for (const ChunkShape& chunk : chunks) {
      sum += chunk.tokens;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t tokens() const { return decodes + chunk_tokens(); }
  void add_context(const ContextTokens& more) {
    decode_context += more.full;
    decode_window_context += more.windowed;
  }
};

}  // namespace inferometer
