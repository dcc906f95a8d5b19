#pragma once

// What both prefill kernels are given, and which tile of queries each thread block takes. Who uses it: the
// kernels, their launchers, and the tests that emulate them.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/attention/causal_tiles.hpp"
#include "kernels/attention/prefill_attention.hpp"

namespace inferometer::kernels {

/// Queries of a thread block, neighbours of one sequence and head.
inline constexpr int kQueriesOfBlock = 128;

struct PrefillArguments {
  PrefillAttentionBuffers buffers;
  int heads;
  int heads_of_kv_head;
  int window;
  int most_tiles;        ///< tiles of queries of the longest sequence
  float exponent_scale;  ///< scores times this are exponents of 2: log2(e) / sqrt(head_dim)
};

inline PrefillArguments prefill_arguments(const PrefillAttentionShape& shape,
                                          const PrefillAttentionBuffers& buffers) {
  constexpr double kLog2OfE = 1.4426950408889634;
  return {.buffers = buffers,
          .heads = static_cast<int>(shape.heads),
          .heads_of_kv_head = static_cast<int>(shape.heads / shape.kv_heads),
          .window = static_cast<int>(std::min<std::int64_t>(shape.window, shape.total_keys)),
          .most_tiles = static_cast<int>(divide_up<std::int64_t>(shape.max_tokens, kQueriesOfBlock)),
          .exponent_scale = static_cast<float>(kLog2OfE / std::sqrt(static_cast<double>(shape.head_dim)))};
}

/// Thread blocks of a launch: one for each tile of queries of the longest sequence, sequence and head.
inline std::int64_t prefill_blocks(const PrefillAttentionShape& shape) {
  return divide_up<std::int64_t>(shape.max_tokens, kQueriesOfBlock) * shape.batch * shape.heads;
}

/// One thread block's work.
struct PrefillTile {
  int head;
  int kv_head;
  int first_token;  ///< in the arrays of all sequences: where the sequence's new tokens begin
  int first_key;    ///< likewise its keys
  int tokens;       ///< new tokens of the sequence
  int keys;
  int first_query;  ///< of the tile, among the sequence's new tokens

  /// Sequences shorter than the longest have fewer tiles.
  [[nodiscard]] INFEROMETER_HOST_DEVICE constexpr bool is_empty() const { return first_query >= tokens; }
  [[nodiscard]] INFEROMETER_HOST_DEVICE constexpr int past() const { return keys - tokens; }
  [[nodiscard]] INFEROMETER_HOST_DEVICE constexpr int end_query() const {
    return first_query + kQueriesOfBlock < tokens ? first_query + kQueriesOfBlock : tokens;
  }
};

/// The GPU starts blocks in order. Sequence after sequence, for those that run at a time to find their keys
/// in L2; of each the last tiles first, which have most keys to visit, so that short ones fill the gaps at
/// the end; heads that share keys beside each other.
INFEROMETER_HOST_DEVICE inline PrefillTile prefill_tile(const PrefillArguments& arguments, int block) {
  const int head = block % arguments.heads;
  const int rank = block / arguments.heads % arguments.most_tiles;
  const int sequence = block / arguments.heads / arguments.most_tiles;
  const int tile = arguments.most_tiles - 1 - rank;
  const std::int32_t* query_offsets = arguments.buffers.query_offsets + sequence;
  const std::int32_t* key_offsets = arguments.buffers.key_offsets + sequence;
  return {.head = head,
          .kv_head = head / arguments.heads_of_kv_head,
          .first_token = query_offsets[0],
          .first_key = key_offsets[0],
          .tokens = query_offsets[1] - query_offsets[0],
          .keys = key_offsets[1] - key_offsets[0],
          .first_query = tile * kQueriesOfBlock};
}

}  // namespace inferometer::kernels
