#pragma once

// The product of a linear layer for few tokens, which is bound by reading the weights: the same as
// kernels/gemm/gemm.hpp (layouts, formats, scales, tolerance, reference), for 1 <= m <= 16.
//
// Weights are read once, 16 bytes a lane, and multiplied by mma.sync: a warp's tile is 16 rows of the weights
// by 8 tokens, or by 16. Ordinary multiply-adds could not keep up with the memory of an H200 at 16 tokens.
// Four warps side by side have 64 rows of the weights; two such rows of warps take turns along k. Where that
// makes too few blocks for the GPU, k is split further, over blocks: each leaves its sums in the workspace,
// and the last one of a group of rows adds them up, always in the same order, so that results repeat.
//
// bf16, fp16: k a multiple of 8; fp8: of 16. Any n >= 1. Buffers 16-byte aligned.

#include <algorithm>
#include <cstdint>

#include "kernels/common/divide_up.hpp"
#include "kernels/gemm/gemm.hpp"

namespace inferometer::kernels {

inline constexpr int kGemvMostTokens = 16;
inline constexpr int kGemvRowWarps = 4;   // warps of a block with rows of their own
inline constexpr int kGemvTurnWarps = 2;  // warps of a block that share rows and take turns along k
inline constexpr int kGemvRows = 16 * kGemvRowWarps;  // of the weights, a block
inline constexpr int kGemvThreads = 32 * kGemvRowWarps * kGemvTurnWarps;
inline constexpr int kGemvUnroll = 4;  // steps of a turn, all loaded before the first is used
inline constexpr int kGemvBlocksAtOnce =
    2;  // on a multiprocessor: 64 KiB of loads in flight keep memory busy
inline constexpr int kGemvMostSplits = 32;

/// Elements of k that a warp consumes in one step: 16 bytes from each of 4 lanes.
constexpr int gemv_step(ElementType type) {
  return 4 * 16 / bytes_of(type);
}

/// How the work is dealt: blocks (row_blocks x splits); block (r, s) has rows [r kGemvRows, (r + 1)
/// kGemvRows) of the weights and steps [s steps_of_split, (s + 1) steps_of_split) of k, both as far as there
/// are any.
struct GemvPlan {
  std::int64_t row_blocks = 0;
  int splits = 1;
  int steps = 0;           ///< of the whole of k
  int steps_of_split = 0;  ///< a multiple of a turn of all warps, but for rounding up at the end of k
};

/// The split that takes the least time by a count of steps: those of one block and a turn more, in which its
/// first loads come; times the rounds in which the GPU runs the blocks, half a round more for their uneven
/// end, and never less than one; and for splits what the last block needs to write its sums and read all,
/// counted as the steps that move as many bytes. Precondition: a shape that gemv() takes; multiprocessors
/// >= 1.
constexpr GemvPlan plan_gemv(const GemmShape& shape, int multiprocessors) {
  constexpr int kTurn = kGemvTurnWarps * kGemvUnroll;
  const int steps = static_cast<int>(divide_up<std::int64_t>(shape.k, gemv_step(shape.type)));
  const std::int64_t row_blocks = divide_up<std::int64_t>(shape.n, kGemvRows);
  const std::int64_t blocks_at_once = std::int64_t{kGemvBlocksAtOnce} * multiprocessors;
  // Bytes of a block's sums over those of a step's weights: 4 a token against 64, for each row.
  const double sum_steps = 4.0 * static_cast<double>(shape.m) / 64;
  GemvPlan best{.row_blocks = row_blocks, .splits = 1, .steps = steps, .steps_of_split = steps};
  double least = 0;
  for (int splits = 1; splits <= kGemvMostSplits; ++splits) {
    const int steps_of_split = round_up(divide_up(steps, splits), kTurn);
    const int used = divide_up(steps, steps_of_split);
    if (used != splits) {
      continue;
    }
    const double blocks = static_cast<double>(row_blocks * splits);
    const double rounds = std::max(1.0, blocks / static_cast<double>(blocks_at_once) + 0.5);
    const double time = rounds * (steps_of_split + kTurn) + (splits > 1 ? sum_steps * (1 + splits) : 0);
    if (splits == 1 || time < least) {
      least = time;
      best.splits = splits;
      best.steps_of_split = steps_of_split;
    }
  }
  return best;
}

/// Bytes of workspace: a counter for each group of rows, and the sums of each split. 0 without splits.
constexpr std::int64_t gemv_workspace_bytes(const GemmShape& shape, const GemvPlan& plan) {
  return plan.splits == 1 ? 0
                          : round_up<std::int64_t>(plan.row_blocks * 4, 16) +
                                4 * shape.m * plan.row_blocks * kGemvRows * plan.splits;
}

/// gemv_workspace_bytes() on the current GPU.
LaunchResult gemv_workspace_bytes(const GemmShape& shape, std::int64_t& bytes);

/// `workspace` of the buffers here: gemv_workspace_bytes() of zeros before the first call; each call leaves
/// its counters zero, so that calls of one shape follow each other in a stream without clearing it.
LaunchResult gemv(const GemmShape& shape, const GemmBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
