#pragma once

// Prefill attention of one tile of queries, by instructions of sm_90a (the scheme of FlashAttention-3). Who
// uses it: the kernel of prefill_attention_sm90.cu, and a test that runs it on emulated instructions.
//
// Three warpgroups: one thread of the first feeds the copy engine, the other two have 64 queries each. Both
// products run asynchronously: scores of the next tile of keys are under way while the probabilities of this
// one meet their values and while the softmax of the next is computed (overlap within a warpgroup); and the
// two take turns in starting products, so that one's softmax runs under the other's products.

#include <cstdint>

#include "kernels/attention/prefill_arguments.hpp"
#include "kernels/attention/score_rows.cuh"
#include "kernels/tensor_core/hopper.cuh"
#include "kernels/tensor_core/mma_sm80.cuh"
#include "kernels/tensor_core/wgmma.cuh"
#include "kernels/tensor_core/wgmma_descriptor.hpp"

namespace inferometer::kernels {

/// Keys of a tile: what registers leave. A thread that multiplies has 240 of them: accumulators of output
/// take head_dim / 2, of scores keys / 2, probabilities keys / 4.
template <int kHeadDim>
struct Sm90Prefill {
  static constexpr int kWarpgroupThreads = 128;
  static constexpr int kMultipliers = 2;  ///< warpgroups
  static constexpr int kRowsOfWarpgroup = kQueriesOfBlock / kMultipliers;
  static constexpr int kThreads = (1 + kMultipliers) * kWarpgroupThreads;
  static constexpr int kKeys = kHeadDim == 256 ? 80 : 128;
  static constexpr int kStages = 2;
  static constexpr int kScoreBlocks = kKeys / 8;
  static constexpr int kOutputBlocks = kHeadDim / 8;
  static constexpr int kQueryBytes = kQueriesOfBlock * kHeadDim * 2;
  static constexpr int kTileBytes = kKeys * kHeadDim * 2;
  // Shared memory: queries, stages of keys, stages of values, barriers.
  static constexpr int kKeyOffset = kQueryBytes;
  static constexpr int kValueOffset = kKeyOffset + kStages * kTileBytes;
  static constexpr int kBarrierOffset = kValueOffset + kStages * kTileBytes;
  static constexpr int kBarriers = 1 + 4 * kStages;
  static constexpr int kSharedBytes = kBarrierOffset + 8 * kBarriers;
  static_assert(kSharedBytes + kSwizzlePatternBytes <= 227 * 1024);  // what a block of sm_90 may have
  // 65536 registers, 168 a thread at launch: 24 x 128 + 240 x 256 of them are 64512.
  static constexpr int kFeederRegisters = 24;
  static constexpr int kMultiplierRegisters = 240;
};

/// Addresses of a block's shared memory. Tiles are counted in order of visit: tile i is in stage i % kStages,
/// and is the (i / kStages)th there.
template <int kHeadDim>
struct Sm90Shared {
  using Plan = Sm90Prefill<kHeadDim>;
  std::uint32_t base;

  __device__ std::uint32_t keys(int visit) const {
    return base + Plan::kKeyOffset + visit % Plan::kStages * Plan::kTileBytes;
  }
  __device__ std::uint32_t values(int visit) const {
    return base + Plan::kValueOffset + visit % Plan::kStages * Plan::kTileBytes;
  }
  __device__ std::uint32_t barrier(int index) const { return base + Plan::kBarrierOffset + 8 * index; }
  __device__ std::uint32_t queries_full() const { return barrier(0); }
  __device__ std::uint32_t keys_full(int visit) const { return barrier(1 + visit % Plan::kStages); }
  __device__ std::uint32_t keys_free(int visit) const { return keys_full(visit) + 8 * Plan::kStages; }
  __device__ std::uint32_t values_full(int visit) const { return keys_full(visit) + 16 * Plan::kStages; }
  __device__ std::uint32_t values_free(int visit) const { return keys_full(visit) + 24 * Plan::kStages; }
  /// Parity of the phase in which the tile arrives; it is waited for with this. The place is free when the
  /// phase before has ended: that is waited for with the other parity.
  __device__ static int parity(int visit) { return visit / Plan::kStages % 2; }
};

struct Sm90Maps {
  TensorMap queries;
  TensorMap keys;
  TensorMap values;
};

/// Queues the copy of a tile, panel by panel; the barrier's phase ends when all is there.
template <int kHeadDim>
__device__ __forceinline__ void copy_tile(std::uint32_t shared, const TensorMap& map, std::uint32_t barrier,
                                          int rows, int head, int first_row) {
  arrive_expecting(barrier, rows * kHeadDim * 2);
#pragma unroll
  for (int panel = 0; panel < kHeadDim / kPanelColumns; ++panel) {
    copy_box(shared + panel * rows * kPanelRowBytes, map, barrier, panel * kPanelColumns, head, first_row);
  }
}

/// One thread: queries, then keys and values in the order in which they are needed, as places become free.
template <int kHeadDim>
__device__ __forceinline__ void feed(const PrefillTile& tile, const CausalTiles& key_tiles,
                                     const Sm90Maps& maps, Sm90Shared<kHeadDim> shared) {
  using Plan = Sm90Prefill<kHeadDim>;
  copy_tile<kHeadDim>(shared.base, maps.queries, shared.queries_full(), kQueriesOfBlock, tile.head,
                      tile.first_token + tile.first_query);
  const int visits = key_tiles.end - key_tiles.begin;
  for (int visit = 0; visit <= visits; ++visit) {
    const int first_key = tile.first_key + (key_tiles.end - 1 - visit) * Plan::kKeys;
    if (visit < visits) {
      wait_phase(shared.keys_free(visit), 1 - shared.parity(visit));
      copy_tile<kHeadDim>(shared.keys(visit), maps.keys, shared.keys_full(visit), Plan::kKeys, tile.kv_head,
                          first_key);
    }
    if (visit > 0) {
      const int before = visit - 1;
      wait_phase(shared.values_free(before), 1 - shared.parity(before));
      copy_tile<kHeadDim>(shared.values(before), maps.values, shared.values_full(before), Plan::kKeys,
                          tile.kv_head, first_key + Plan::kKeys);
    }
  }
}

/// Starts scores = queries x keys^T.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void start_scores(float (&scores)[Sm90Prefill<kHeadDim>::kScoreBlocks][4],
                                             std::uint32_t queries, std::uint32_t keys) {
  using Plan = Sm90Prefill<kHeadDim>;
  start_products();
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    const std::uint64_t left = descriptor_of_rows(queries, kQueriesOfBlock, step);
    const std::uint64_t right = descriptor_of_rows(keys, Plan::kKeys, step);
    if (step == 0) {
      multiply_shared<kType, false>(scores, left, right);
    } else {
      multiply_shared<kType, true>(scores, left, right);
    }
  }
  commit_products();
}

/// Starts output += probabilities x values.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void start_output(
    float (&output)[Sm90Prefill<kHeadDim>::kOutputBlocks][4],
    const std::uint32_t (&probabilities)[Sm90Prefill<kHeadDim>::kKeys / 16][4], std::uint32_t values) {
  using Plan = Sm90Prefill<kHeadDim>;
  start_products();
#pragma unroll
  for (int step = 0; step < Plan::kKeys / 16; ++step) {
    multiply_registers<kType>(output, probabilities[step], descriptor_of_columns(values, Plan::kKeys, step));
  }
  commit_products();
}

/// A warp has read a stage for the last time.
__device__ __forceinline__ void release(std::uint32_t barrier, int lane) {
  if (lane == 0) {
    arrive(barrier);
  }
}

/// One warpgroup's 64 queries.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void multiply(const PrefillArguments& arguments, const PrefillTile& tile,
                                         const CausalTiles& key_tiles, Sm90Shared<kHeadDim> shared,
                                         int warpgroup) {
  using Plan = Sm90Prefill<kHeadDim>;
  constexpr int kTurnThreads = Plan::kMultipliers * Plan::kWarpgroupThreads;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int own_row = warpgroup * Plan::kRowsOfWarpgroup + 16 * warp + lane / 4;
  const int position = tile.past() + tile.first_query + own_row;
  const int visits = key_tiles.end - key_tiles.begin;
  const std::uint32_t queries = shared.base + warpgroup * Plan::kRowsOfWarpgroup * kPanelRowBytes;
  // Named barriers 1 and 2: the warpgroup's turn to start products.
  const int own_turn = 1 + warpgroup;
  const int other_turn = 2 - warpgroup;

  float output[Plan::kOutputBlocks][4] = {};
  float scores[Plan::kScoreBlocks][4];
  std::uint32_t probabilities[Plan::kKeys / 16][4];
  ScoreRows rows;
  const auto soften = [&](int visit, float(&rescale)[2]) {
    const int at = key_tiles.end - 1 - visit;
    if (key_tiles.needs_mask(at)) {
      hide_scores(scores, lane, position, at * Plan::kKeys, arguments.window);
    }
    take_in(scores, rows, arguments.exponent_scale, rescale);
  };
  // Of what the next products read: keys or, after the last visit, the last values. Waited for before the
  // running products are, not after: the branch in it is what keeps the assembler from moving the wait for
  // products ahead of the softmax, which is to run beside them.
  const auto wait_for_next = [&](int visit) {
    const bool is_last = visit + 1 == visits;
    wait_phase(is_last ? shared.values_full(visit) : shared.keys_full(visit + 1),
               shared.parity(is_last ? visit : visit + 1));
  };
  const auto pack = [&] {
#pragma unroll
    for (int step = 0; step < Plan::kKeys / 16; ++step) {
      pack_left_factor<kType>(scores, step, probabilities[step]);
    }
  };

  if (warpgroup == 1 && visits > 1) {
    arrive_named(other_turn, kTurnThreads);  // the first turn is the other's
  }
  wait_phase(shared.queries_full(), 0);
  wait_phase(shared.keys_full(0), 0);
  start_scores<kType, kHeadDim>(scores, queries, shared.keys(0));
  wait_products<0>();
  settle(scores);
  release(shared.keys_free(0), lane);
  float rescale[2];
  soften(0, rescale);
  pack();
  wait_for_next(0);
  for (int visit = 1; visit < visits; ++visit) {
    sync_named(own_turn, kTurnThreads);
    start_scores<kType, kHeadDim>(scores, queries, shared.keys(visit));
    wait_phase(shared.values_full(visit - 1), shared.parity(visit - 1));
    start_output<kType, kHeadDim>(output, probabilities, shared.values(visit - 1));
    // The last turn of all is followed by none.
    if (warpgroup == 0 || visit + 1 < visits) {
      arrive_named(other_turn, kTurnThreads);
    }
    wait_products<1>();
    settle(scores);
    release(shared.keys_free(visit), lane);
    soften(visit, rescale);
    wait_for_next(visit);
    wait_products<0>();
    settle(output);
    release(shared.values_free(visit - 1), lane);
    rescale_output(output, rescale);
    pack();
  }
  start_output<kType, kHeadDim>(output, probabilities, shared.values(visits - 1));
  wait_products<0>();
  settle(output);

  const std::int64_t row_elements = static_cast<std::int64_t>(arguments.heads) * kHeadDim;
  const std::int64_t row = static_cast<std::int64_t>(tile.first_token) + tile.first_query + own_row;
  auto* result =
      static_cast<std::uint16_t*>(arguments.buffers.output) + row * row_elements + tile.head * kHeadDim;
  store_rows<kType>(output, rows, lane, result, row_elements, tile.tokens - tile.first_query - own_row);
}

/// `base`: shared memory at a multiple of 1024 bytes.
template <ElementType kType, int kHeadDim>
__device__ __forceinline__ void attend_sm90(const PrefillArguments& arguments, const PrefillTile& tile,
                                            const Sm90Maps& maps, std::uint32_t base) {
  using Plan = Sm90Prefill<kHeadDim>;
  const Sm90Shared<kHeadDim> shared{base};
  const CausalTiles key_tiles =
      causal_tiles(tile.first_query, tile.end_query(), tile.past(), arguments.window, Plan::kKeys);
  if (threadIdx.x == 0) {
    constexpr int kMultiplierWarps = Plan::kMultipliers * 4;
    init_barrier(shared.queries_full(), 1);
    for (int stage = 0; stage < Plan::kStages; ++stage) {
      init_barrier(shared.keys_full(stage), 1);
      init_barrier(shared.values_full(stage), 1);
      init_barrier(shared.keys_free(stage), kMultiplierWarps);
      init_barrier(shared.values_free(stage), kMultiplierWarps);
    }
    publish_barriers();
  }
  __syncthreads();
  // The same for all lanes of a warp, which the compiler cannot see.
  const int warpgroup = __shfl_sync(kWholeWarp, static_cast<int>(threadIdx.x) / Plan::kWarpgroupThreads, 0);
  if (warpgroup == 0) {
    give_registers_back<Plan::kFeederRegisters>();
    if (threadIdx.x == 0) {
      feed<kHeadDim>(tile, key_tiles, maps, shared);
    }
  } else {
    take_registers<Plan::kMultiplierRegisters>();
    multiply<kType, kHeadDim>(arguments, tile, key_tiles, shared, warpgroup - 1);
  }
}

}  // namespace inferometer::kernels

// What this leaves out of FlashAttention-3, and what that should cost, by reasoning alone: blocks are not
// persistent, so a tile's queries are loaded and its output stored while the multiprocessor multiplies
// nothing, about a microsecond or two beside the tens of a tile of some thousand keys (a few per cent there,
// more for short prompts); and the heads of a group are not packed into one tile, so that chunks of fewer
// than 128 tokens leave rows of products idle.
