#pragma once

// What one thread block of decode attention does with its warps: attend a split of a sequence, then merge and
// write; and how the splits of a query head are added up afterwards. Shared memory and the numbers of thread
// and block are handed in.

#include <cstdint>

#include "kernels/attention/decode_arguments.hpp"
#include "kernels/attention/decode_copies.cuh"
#include "kernels/attention/decode_tile.hpp"
#include "kernels/attention/decode_warp.cuh"
#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/split_kv_plan.hpp"
#include "kernels/common/element_type.hpp"
#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

inline constexpr int kDecodeThreads = kDecodeWarps * 32;

/// Neighbouring columns that a thread moves at once.
struct alignas(8) TwoFloats {
  float of[2];
};
struct alignas(16) FourFloats {
  float of[4];
};
struct alignas(8) FourElements {
  std::uint32_t pairs[2];
};

__device__ inline std::uint32_t output_pair(float low, float high, ElementType type) {
  return type == ElementType::bf16 ? pack_pair<ElementType::bf16>(low, high)
                                   : pack_pair<ElementType::fp16>(low, high);
}

// ---- a split of a sequence, for up to 16 query heads of one KV head ----

/// What a block works on.
struct DecodeTask {
  int sequence;
  int kv_head;
  int split;
  std::int64_t first_head;  // counted over the batch
  int rows;                 // query heads
};

/// Blocks are numbered by sequence, KV head, tile of heads, split; the last changes fastest.
__device__ inline DecodeTask decode_task(const DecodeArguments& arguments, unsigned block) {
  const unsigned splits = static_cast<unsigned>(arguments.plan.splits);
  const unsigned head_tiles = static_cast<unsigned>(arguments.head_tiles);
  const unsigned kv_heads = static_cast<unsigned>(arguments.kv_heads);
  const unsigned kv_head_of_batch = block / splits / head_tiles;
  const int group = arguments.heads / arguments.kv_heads;
  const int first_of_group = static_cast<int>(block / splits % head_tiles) * kDecodeRows;
  const int left = group - first_of_group;
  return {.sequence = static_cast<int>(kv_head_of_batch / kv_heads),
          .kv_head = static_cast<int>(kv_head_of_batch % kv_heads),
          .split = static_cast<int>(block % splits),
          .first_head = static_cast<std::int64_t>(kv_head_of_batch) * group + first_of_group,
          .rows = left < kDecodeRows ? left : kDecodeRows};
}

/// The softmax states of a block's warps, and what becomes of them.
struct WarpStates {
  float max[kDecodeWarps][kDecodeRows];
  float sum[kDecodeWarps][kDecodeRows];
  float weight[kDecodeWarps][kDecodeRows];  // of a warp's accumulator in the block's
  float max_of_block[kDecodeRows];
  float sum_of_block[kDecodeRows];
};

template <class Format>
struct alignas(128) DecodeShared {
  static constexpr int kRingBytes = decode_ring_bytes(Format::kHeadDim, Format::kKvBytes);
  static_assert(kRingBytes >= kDecodeRows * Format::kHeadDim * static_cast<int>(sizeof(float)),
                "a warp's accumulator takes the place of its pages");

  std::uint8_t rings[kDecodeWarps][kRingBytes];
  QueryFragments<Format> query;
  WarpStates states;

  __device__ float* accumulator(int warp) { return reinterpret_cast<float*>(rings[warp]); }
};

/// Called by all threads, when each warp has stored its states and accumulator.
__device__ inline void merge_states(WarpStates& states, int thread) {
  __syncthreads();
  if (thread < kDecodeRows) {
    SoftmaxState<float> all;
    for (int warp = 0; warp < kDecodeWarps; ++warp) {
      all = merged(all, {states.max[warp][thread], states.sum[warp][thread]});
    }
    for (int warp = 0; warp < kDecodeWarps; ++warp) {
      states.weight[warp][thread] = rescale_factor(states.max[warp][thread], all.max);
    }
    states.max_of_block[thread] = all.max;
    states.sum_of_block[thread] = all.sum;
  }
  __syncthreads();
}

/// Four columns of a row, added up over the warps.
template <class Format>
__device__ FourFloats sum_of_warps(DecodeShared<Format>& shared, int row, int column) {
  FourFloats sum = {};
#pragma unroll
  for (int warp = 0; warp < kDecodeWarps; ++warp) {
    const float weight = shared.states.weight[warp][row];
    const auto part = *reinterpret_cast<const FourFloats*>(
        shared.accumulator(warp) + accumulator_element(row, column, Format::kHeadDim));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum.of[i] += weight * part.of[i];
    }
  }
  return sum;
}

/// The block's result: to the output where it is the only split, else to the workspace.
template <class Format>
__device__ void write_result(const DecodeArguments& arguments, const DecodeTask& task,
                             DecodeShared<Format>& shared, int thread) {
  constexpr int kGroups = Format::kHeadDim / 4;
  for (int item = thread; item < task.rows * kGroups; item += kDecodeThreads) {
    const int row = item / kGroups;
    const int column = item % kGroups * 4;
    const std::int64_t head = task.first_head + row;
    FourFloats sum = sum_of_warps(shared, row, column);
    const SoftmaxState<float> state{shared.states.max_of_block[row], shared.states.sum_of_block[row]};
    if (arguments.plan.splits == 1) {
      const float scale = normaliser(state) * arguments.value_scale;
      const ElementType type = arguments.query_type;
      *reinterpret_cast<FourElements*>(arguments.output + head * Format::kHeadDim + column) = {
          output_pair(sum.of[0] * scale, sum.of[1] * scale, type),
          output_pair(sum.of[2] * scale, sum.of[3] * scale, type)};
    } else {
      const std::int64_t part = head * arguments.plan.splits + task.split;
      *reinterpret_cast<FourFloats*>(arguments.accumulators + part * Format::kHeadDim + column) = sum;
      if (column == 0) {
        arguments.states[part] = state;
      }
    }
  }
}

template <class Format>
__device__ void attend_pages(PageStream<Format>& pages, WarpAttention<Format>& attention, Range tokens,
                             float score_scale, int lane) {
  for (int number = 0, stage = 0; number < pages.count(); ++number) {
    wait_for_groups<Format::kStages - 1>();
    __syncwarp();
    attention.attend(pages.keys_in_shared(stage), pages.values_in_shared(stage), pages.first_token(number),
                     tokens, score_scale, lane);
    // Only now has every lane read the page whose place the next one takes.
    __syncwarp();
    pages.fetch(number + Format::kStages, stage);
    stage = stage + 1 == Format::kStages ? 0 : stage + 1;
  }
  wait_for_groups<0>();
  __syncwarp();
}

/// All of a block's work.
template <class Format>
__device__ void attend_split(const DecodeArguments& arguments, DecodeShared<Format>& shared, unsigned block,
                             int thread) {
  const DecodeTask task = decode_task(arguments, block);
  const std::int32_t context = arguments.contexts[task.sequence];
  const Range tokens = attended_tokens(context, arguments.window);
  Range pages = pages_of_split(attended_pages(context, arguments.window), arguments.plan, task.split);
  if (arguments.plan.splits > 1 && pages.count() == 0) {
    return;
  }
  const int warp = thread / 32;
  const int lane = thread % 32;
  pages.first += warp;
  const std::int64_t block_bytes = static_cast<std::int64_t>(arguments.kv_heads) * Format::kPageBytes;
  const std::int64_t of_head = static_cast<std::int64_t>(task.kv_head) * Format::kPageBytes;
  PageStream<Format> stream(arguments.keys + of_head, arguments.values + of_head, block_bytes,
                            arguments.block_table + task.sequence * arguments.max_blocks, pages, tokens,
                            shared_address(shared.rings[warp]), lane);
#pragma unroll
  for (int stage = 0; stage < Format::kStages; ++stage) {
    stream.fetch(stage, stage);
  }
  // While the first pages are on their way.
  shared.query.load(arguments.query + task.first_head * Format::kHeadDim, task.rows,
                    Format::kMath != arguments.query_type, warp, lane);
  __syncthreads();
  WarpAttention<Format> attention(shared.query, lane);
  attend_pages(stream, attention, tokens, arguments.score_scale, lane);

#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const SoftmaxState<float> state = attention.state(h);
    if (lane % 4 == 0) {
      shared.states.max[warp][fragment_row(lane, h)] = state.max;
      shared.states.sum[warp][fragment_row(lane, h)] = state.sum;
    }
  }
  attention.store_accumulator(shared.accumulator(warp), task.rows, lane);
  merge_states(shared.states, thread);
  write_result(arguments, task, shared, thread);
}

// ---- the splits of one query head, by one thread block ----

/// Sums of each warp over its share of the splits.
template <int kHeadDim>
struct alignas(8) SplitSums {
  float of[kDecodeWarps][kHeadDim];
};

/// The softmax state over all splits, by one warp; the same in all lanes.
__device__ inline SoftmaxState<float> merged_splits(const SoftmaxState<float>* states, int splits, int lane) {
  SoftmaxState<float> all;
  for (int split = lane; split < splits; split += 32) {
    all = merged(all, states[split]);
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    all = merged(
        all, {__shfl_xor_sync(kAllLanes, all.max, distance), __shfl_xor_sync(kAllLanes, all.sum, distance)});
  }
  return all;
}

/// Splits whose partial results a warp has on their way at a time.
inline constexpr int kSplitsAtOnce = 8;

/// Called by all threads of a block. With few sequences there are many splits and few heads: the warps share
/// the splits, for the sum not to take as long as the attention.
template <int kHeadDim>
__device__ void reduce_splits(const DecodeArguments& arguments, SplitSums<kHeadDim>& shared, int head,
                              int thread) {
  constexpr int kPairs = kHeadDim / 64;  // of neighbouring columns, for each lane
  const int warp = thread / 32;
  const int lane = thread % 32;
  const std::int32_t context = arguments.contexts[head / arguments.heads];
  const int splits = splits_used(attended_pages(context, arguments.window), arguments.plan);
  const std::int64_t first_part = static_cast<std::int64_t>(head) * arguments.plan.splits;
  const SoftmaxState<float>* states = arguments.states + first_part;
  const auto* parts =
      reinterpret_cast<const TwoFloats*>(arguments.accumulators + first_part * kHeadDim) + lane;

  // Every warp merges the states for itself: they are few bytes, and no barrier is needed.
  const SoftmaxState<float> all = merged_splits(states, splits, lane);
  TwoFloats sums[kPairs] = {};
  for (int first = warp; first < splits; first += kDecodeWarps * kSplitsAtOnce) {
    float maxima[kSplitsAtOnce];
    TwoFloats read[kSplitsAtOnce][kPairs];
#pragma unroll
    for (int i = 0; i < kSplitsAtOnce; ++i) {
      const int split = first + kDecodeWarps * i;
      maxima[i] = split < splits ? states[split].max : no_score<float>();
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        read[i][pair] = split < splits ? parts[split * (kHeadDim / 2) + pair * 32] : TwoFloats{};
      }
    }
#pragma unroll
    for (int i = 0; i < kSplitsAtOnce; ++i) {
      const float weight = rescale_factor(maxima[i], all.max);
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        sums[pair].of[0] += weight * read[i][pair].of[0];
        sums[pair].of[1] += weight * read[i][pair].of[1];
      }
    }
  }
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    *reinterpret_cast<TwoFloats*>(&shared.of[warp][2 * (pair * 32 + lane)]) = sums[pair];
  }
  __syncthreads();
  if (thread < kHeadDim / 2) {
    TwoFloats sum = {};
#pragma unroll
    for (int of_warp = 0; of_warp < kDecodeWarps; ++of_warp) {
      sum.of[0] += shared.of[of_warp][2 * thread];
      sum.of[1] += shared.of[of_warp][2 * thread + 1];
    }
    const float scale = normaliser(all) * arguments.value_scale;
    reinterpret_cast<std::uint32_t*>(arguments.output + static_cast<std::int64_t>(head) * kHeadDim)[thread] =
        output_pair(sum.of[0] * scale, sum.of[1] * scale, arguments.query_type);
  }
}

}  // namespace inferometer::kernels
