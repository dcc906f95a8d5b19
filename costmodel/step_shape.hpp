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

/// Sequences that decode, as one kind of layers sees them: each runs as many successive positions.
struct DecodeShape {
  std::int64_t sequences = 0;
  std::int64_t context = 0;  ///< sum over them of the tokens that the first position attends to
  std::int64_t queries = 1;  ///< positions

  [[nodiscard]] constexpr std::int64_t tokens() const { return sequences * queries; }
  /// Tokens whose KV is read: of each sequence once, for all its positions.
  [[nodiscard]] constexpr std::int64_t keys() const { return context + sequences * (queries - 1); }
  /// (query, key) pairs that are visited: position i sees i keys more than the first. (Within a full sliding
  /// window it sees no more than the first: counted too high there, by (queries - 1) / 2 of a window.)
  [[nodiscard]] constexpr std::int64_t pairs() const {
    return context * queries + sequences * queries * (queries - 1) / 2;
  }
};

/// What a step computes, as far as its cost depends on it. All counts are of whole sequences and tokens,
/// before any split over GPUs. A step has at least one token.
struct StepShape {
  std::int64_t decodes = 0;         ///< sequences that decode, `queries` tokens each
  std::int64_t decode_context = 0;  ///< ContextTokens::full of theirs, for the first of those tokens
  std::int64_t sampled_rows = 0;    ///< rows of lm_head: tokens after which one is sampled
  std::span<const ChunkShape> chunks{};
  std::int64_t decode_window_context = 0;  ///< ContextTokens::windowed of theirs, likewise
  /// Successive positions that each decode runs: one, or with k drafted tokens to verify k + 1.
  std::int64_t queries = 1;

  [[nodiscard]] std::int64_t decode_tokens() const { return decodes * queries; }
  /// As layers of full attention see the decodes, and those with a window.
  [[nodiscard]] DecodeShape full_decodes() const { return {decodes, decode_context, queries}; }
  [[nodiscard]] DecodeShape windowed_decodes() const { return {decodes, decode_window_context, queries}; }

  [[nodiscard]] std::int64_t chunk_tokens() const {
    std::int64_t sum = 0;
    for (const ChunkShape& chunk : chunks) {
      sum += chunk.tokens;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t tokens() const { return decode_tokens() + chunk_tokens(); }
  void add_context(const ContextTokens& more) {
    decode_context += more.full;
    decode_window_context += more.windowed;
  }
};

}  // namespace inferometer
