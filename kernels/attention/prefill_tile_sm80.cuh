#pragma once

// Prefill attention of one tile of queries, by instructions of sm_80 (the scheme of FlashAttention-2). Who
// uses it: the kernel of prefill_attention_sm80.cu, and a test that runs it on emulated instructions.
//
// Keys and values of a tile have one buffer each: values are copied while scores are computed, the next keys
// while probabilities meet the values. Less memory than two buffers each, so that two blocks share a
// multiprocessor and one's products run under the other's softmax.

#include <cstdint>

#include "kernels/attention/prefill_arguments.hpp"
#include "kernels/attention/score_rows.cuh"
#include "kernels/tensor_core/fragments.hpp"
#include "kernels/tensor_core/mma_sm80.cuh"
#include "kernels/tensor_core/swizzle.hpp"

namespace inferometer::kernels {

/// How a thread block shares the work. A warp has `kRowTiles` x 16 queries: with 32, a fragment of keys read
/// from shared memory serves two products, without which shared memory is the limit. Head dimension 256
/// leaves registers for 16 only. Keys of a tile: what fits the accumulators of scores beside those of the
/// output.
template <int kHeadDim>
struct Sm80Prefill {
  static constexpr int kRowTiles = kHeadDim == 256 ? 1 : 2;
  static constexpr int kRowsOfWarp = 16 * kRowTiles;
  static constexpr int kWarps = kQueriesOfBlock / kRowsOfWarp;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kKeys = 64;
  static constexpr int kChunks = kHeadDim / 8;  ///< 16-byte pieces of a row
  static constexpr int kRowBytes = kHeadDim * 2;
  static constexpr int kScoreBlocks = kKeys / 8;
  static constexpr int kOutputBlocks = kHeadDim / 8;
  static constexpr int kQueryBytes = kQueriesOfBlock * kHeadDim * 2;
  static constexpr int kTileBytes = kKeys * kHeadDim * 2;
  static constexpr int kSharedBytes = kQueryBytes + 2 * kTileBytes;
  static constexpr int kBlocksOfMultiprocessor = kHeadDim == 256 ? 1 : 2;
};

/// Queues copies of kRows rows. Beyond the last of `rows_left` >= 1 it is copied again: what such rows give
/// is hidden or not stored, so any finite values do.
template <int kHeadDim, int kRows>
__device__ __forceinline__ void copy_rows(std::uint32_t tile, const std::uint16_t* source, int row_elements,
                                          int rows_left) {
  using Plan = Sm80Prefill<kHeadDim>;
  constexpr int kRowsAtOnce = Plan::kThreads / Plan::kChunks;
  static_assert(kRowsAtOnce % 8 == 0 && kRows % kRowsAtOnce == 0);
  const int chunk = static_cast<int>(threadIdx.x) % Plan::kChunks;
  const int first = static_cast<int>(threadIdx.x) / Plan::kChunks;
  const std::uint32_t target = made_here(tile + swizzled_offset(first, chunk, Plan::kChunks));
#pragma unroll
  for (int row = 0; row < kRows; row += kRowsAtOnce) {
    const int existing = min(first + row, rows_left - 1);
    copy_async(target + row * Plan::kRowBytes, source + existing * row_elements + 8 * chunk);
  }
}

/// scores = queries x keys^T, of the warp's rows.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void multiply_keys(
    float (&scores)[Sm80Prefill<kHeadDim>::kRowTiles][Sm80Prefill<kHeadDim>::kScoreBlocks][4],
    std::uint32_t queries, std::uint32_t keys, int warp, int lane) {
  using Plan = Sm80Prefill<kHeadDim>;
  const MatrixRow of_query = left_factor_row(lane);
  const MatrixRow of_key = right_factor_row_of_n(lane);
  const std::uint32_t own_query = made_here(
      queries + swizzled_offset(warp * Plan::kRowsOfWarp + of_query.row, of_query.chunk, Plan::kChunks));
  const std::uint32_t own_key = made_here(keys + swizzled_offset(of_key.row, of_key.chunk, Plan::kChunks));
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    std::uint32_t left[Plan::kRowTiles][4];
#pragma unroll
    for (int tile = 0; tile < Plan::kRowTiles; ++tile) {
      load_matrices(left[tile], chunks_on(own_query, 2 * step) + 16 * tile * Plan::kRowBytes);
    }
#pragma unroll
    for (int block = 0; block < Plan::kScoreBlocks; block += 2) {
      std::uint32_t right[4];
      load_matrices(right, chunks_on(own_key, 2 * step) + 8 * block * Plan::kRowBytes);
#pragma unroll
      for (int tile = 0; tile < Plan::kRowTiles; ++tile) {
        multiply_add<kType>(scores[tile][block], left[tile], right[0], right[1]);
        multiply_add<kType>(scores[tile][block + 1], left[tile], right[2], right[3]);
      }
    }
  }
}

/// output += probabilities x values, of the warp's rows.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void multiply_values(
    float (&output)[Sm80Prefill<kHeadDim>::kRowTiles][Sm80Prefill<kHeadDim>::kOutputBlocks][4],
    const float (&probabilities)[Sm80Prefill<kHeadDim>::kRowTiles][Sm80Prefill<kHeadDim>::kScoreBlocks][4],
    std::uint32_t values, int lane) {
  using Plan = Sm80Prefill<kHeadDim>;
  const MatrixRow of_value = right_factor_row_of_k(lane);
  const std::uint32_t own_value =
      made_here(values + swizzled_offset(of_value.row, of_value.chunk, Plan::kChunks));
#pragma unroll
  for (int step = 0; step < Plan::kKeys / 16; ++step) {
    std::uint32_t left[Plan::kRowTiles][4];
#pragma unroll
    for (int tile = 0; tile < Plan::kRowTiles; ++tile) {
      pack_left_factor<kType>(probabilities[tile], step, left[tile]);
    }
#pragma unroll
    for (int block = 0; block < Plan::kOutputBlocks; block += 2) {
      std::uint32_t right[4];
      load_matrices_transposed(right, chunks_on(own_value, block) + 16 * step * Plan::kRowBytes);
#pragma unroll
      for (int tile = 0; tile < Plan::kRowTiles; ++tile) {
        multiply_add<kType>(output[tile][block], left[tile], right[0], right[1]);
        multiply_add<kType>(output[tile][block + 1], left[tile], right[2], right[3]);
      }
    }
  }
}

/// Scores of one tile become probabilities, the output so far is scaled to match.
template <int kHeadDim>
__device__ __forceinline__ void turn_to_probabilities(
    float (&scores)[Sm80Prefill<kHeadDim>::kRowTiles][Sm80Prefill<kHeadDim>::kScoreBlocks][4],
    float (&output)[Sm80Prefill<kHeadDim>::kRowTiles][Sm80Prefill<kHeadDim>::kOutputBlocks][4],
    ScoreRows (&rows)[Sm80Prefill<kHeadDim>::kRowTiles], const PrefillArguments& arguments, int lane,
    int position, int first_key, bool needs_mask) {
#pragma unroll
  for (int tile = 0; tile < Sm80Prefill<kHeadDim>::kRowTiles; ++tile) {
    if (needs_mask) {
      hide_scores(scores[tile], lane, position + 16 * tile, first_key, arguments.window);
    }
    float rescale[2];
    take_in(scores[tile], rows[tile], arguments.exponent_scale, rescale);
    rescale_output(output[tile], rescale);
  }
}

template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void attend_sm80(const PrefillArguments& arguments, const PrefillTile& tile,
                                            unsigned char* shared) {
  using Plan = Sm80Prefill<kHeadDim>;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int query_row = arguments.heads * kHeadDim;
  const int key_row = query_row / arguments.heads_of_kv_head;
  const auto first_query = static_cast<std::int64_t>(tile.first_token) + tile.first_query;
  const std::int64_t key_corner =
      static_cast<std::int64_t>(tile.first_key) * key_row + tile.kv_head * kHeadDim;
  const auto* query = static_cast<const std::uint16_t*>(arguments.buffers.query);
  const auto* keys = static_cast<const std::uint16_t*>(arguments.buffers.keys) + key_corner;
  const auto* values = static_cast<const std::uint16_t*>(arguments.buffers.values) + key_corner;
  const std::uint32_t query_tile = shared_address(shared);
  const std::uint32_t key_tile = query_tile + Plan::kQueryBytes;
  const std::uint32_t value_tile = key_tile + Plan::kTileBytes;

  const CausalTiles key_tiles =
      causal_tiles(tile.first_query, tile.end_query(), tile.past(), arguments.window, Plan::kKeys);
  const int own_row = warp * Plan::kRowsOfWarp + lane / 4;
  const int position = tile.past() + tile.first_query + own_row;

  copy_rows<kHeadDim, kQueriesOfBlock>(query_tile, query + first_query * query_row + tile.head * kHeadDim,
                                       query_row, tile.tokens - tile.first_query);
  float output[Plan::kRowTiles][Plan::kOutputBlocks][4] = {};
  ScoreRows rows[Plan::kRowTiles];
  int first_key = (key_tiles.end - 1) * Plan::kKeys;
  copy_rows<kHeadDim, Plan::kKeys>(key_tile, keys + static_cast<std::int64_t>(first_key) * key_row, key_row,
                                   tile.keys - first_key);
  for (int at = key_tiles.end - 1; at >= key_tiles.begin; --at) {
    wait_copies();
    __syncthreads();  // keys are there, nobody reads the values of before
    first_key = at * Plan::kKeys;
    copy_rows<kHeadDim, Plan::kKeys>(value_tile, values + static_cast<std::int64_t>(first_key) * key_row,
                                     key_row, tile.keys - first_key);
    float scores[Plan::kRowTiles][Plan::kScoreBlocks][4] = {};
    multiply_keys<kType, kHeadDim>(scores, query_tile, key_tile, warp, lane);
    wait_copies();
    __syncthreads();  // values are there, nobody reads the keys any more
    if (at > key_tiles.begin) {
      const int next = first_key - Plan::kKeys;
      copy_rows<kHeadDim, Plan::kKeys>(key_tile, keys + static_cast<std::int64_t>(next) * key_row, key_row,
                                       tile.keys - next);
    }
    turn_to_probabilities<kHeadDim>(scores, output, rows, arguments, lane, position, first_key,
                                    key_tiles.needs_mask(at));
    multiply_values<kType, kHeadDim>(output, scores, value_tile, lane);
  }
  auto* result = static_cast<std::uint16_t*>(arguments.buffers.output) + tile.head * kHeadDim;
#pragma unroll
  for (int row_tile = 0; row_tile < Plan::kRowTiles; ++row_tile) {
    const int row = own_row + 16 * row_tile;
    store_rows<kType>(output[row_tile], rows[row_tile], lane, result + (first_query + row) * query_row,
                      query_row, tile.tokens - tile.first_query - row);
  }
}

}  // namespace inferometer::kernels
