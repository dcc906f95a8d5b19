#pragma once

// How decode attention cuts sequences into splits that thread blocks work on side by side (split-KV,
// "Flash-Decoding", Dao et al. 2023). A split is a run of whole pages. All sequences of a batch are cut by
// the same plan: pages a split, and the number of splits. A sequence shorter than the longest one has fewer
// splits that hold pages; the others, at its end, are empty, do nothing, and merge as nothing. The longest
// sequence has none that is empty unless a window starts in the middle of a page. Used by the kernel, by what
// reduces its partial results, and by the host that sizes both.

#include <cstdint>

#include "kernels/attention/paged_kv.hpp"
#include "kernels/common/divide_up.hpp"
#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// Half-open.
struct Range {
  std::int32_t first = 0;
  std::int32_t last = 0;

  INFEROMETER_HOST_DEVICE constexpr std::int32_t count() const { return last > first ? last - first : 0; }
};

/// Positions that the newest of `context` tokens attends: all, or the last `window`. window = 0: none.
INFEROMETER_HOST_DEVICE constexpr Range attended_tokens(std::int32_t context, std::int32_t window) {
  return {window > 0 && context > window ? context - window : 0, context};
}

/// Pages that hold them.
INFEROMETER_HOST_DEVICE constexpr Range attended_pages(std::int32_t context, std::int32_t window) {
  const Range tokens = attended_tokens(context, window);
  return {tokens.first / kPageTokens, divide_up(tokens.last, kPageTokens)};
}

/// The most pages that a sequence of at most `longest_context` tokens attends, wherever its window starts.
constexpr std::int32_t most_attended_pages(std::int32_t longest_context, std::int32_t window) {
  const std::int32_t all = divide_up(longest_context, kPageTokens);
  const std::int32_t of_window = (window + kPageTokens - 2) / kPageTokens + 1;
  return window > 0 && of_window < all ? of_window : all;
}

struct SplitKvPlan {
  std::int32_t splits = 1;
  std::int32_t pages_per_split = 1;
};

/// The pages of one split, of a sequence that attends `pages`. The last split takes all that are left, so
/// that every page is in exactly one split whatever sequence the plan was made for.
INFEROMETER_HOST_DEVICE constexpr Range pages_of_split(Range pages, const SplitKvPlan& plan,
                                                       std::int32_t split) {
  const std::int64_t first = pages.first + static_cast<std::int64_t>(split) * plan.pages_per_split;
  const std::int64_t next = first + plan.pages_per_split;
  return {static_cast<std::int32_t>(first < pages.last ? first : pages.last),
          static_cast<std::int32_t>(split + 1 < plan.splits && next < pages.last ? next : pages.last)};
}

/// Splits that hold pages: the first so many.
INFEROMETER_HOST_DEVICE constexpr std::int32_t splits_used(Range pages, const SplitKvPlan& plan) {
  const std::int32_t needed = divide_up(pages.count(), plan.pages_per_split);
  return needed < plan.splits ? needed : plan.splits;
}

/// Splits of a sequence at the most: about two thread blocks for each multiprocessor when there is one KV
/// head of one sequence. More would be as much reduction again.
inline constexpr std::int32_t kMostSplits = 256;

/// A plan is full enough when its thread blocks fill this share of what the best plan fills: beyond that,
/// fewer splits save more in the reduction than they lose in idle multiprocessors.
inline constexpr double kFullEnough = 0.85;

/// How much of the places for thread blocks is busy until the last block is done, when all blocks take
/// equally long.
constexpr double filled_share(std::int64_t blocks, std::int64_t places) {
  return static_cast<double>(blocks) / static_cast<double>(round_up(blocks, places));
}

/// The fewest splits that fill the GPU (nearly) as well as any number does.
///
///   blocks_unsplit  thread blocks with one split: sequences * KV heads * tiles of query heads
///   pages           most_attended_pages() of the longest sequence, >= 1
///   fewest_pages    at most pages / fewest_pages splits, or one; >= 1
///   places          thread blocks that the GPU runs at a time, >= 1
///
/// At most 2 * kMostSplits steps.
constexpr SplitKvPlan plan_split_kv(std::int64_t blocks_unsplit, std::int32_t pages,
                                    std::int32_t fewest_pages, std::int64_t places) {
  const std::int32_t possible = pages / fewest_pages;
  const std::int32_t most = possible < 1 ? 1 : possible < kMostSplits ? possible : kMostSplits;
  double best = 0;
  for (std::int32_t splits = 1; splits <= most; ++splits) {
    const std::int32_t held = divide_up(pages, divide_up(pages, splits));
    const double share = filled_share(blocks_unsplit * held, places);
    best = share > best ? share : best;
  }
  SplitKvPlan plan{1, pages};
  for (std::int32_t splits = 1; splits <= most; ++splits) {
    plan.pages_per_split = divide_up(pages, splits);
    plan.splits = divide_up(pages, plan.pages_per_split);
    if (filled_share(blocks_unsplit * plan.splits, places) >= kFullEnough * best) {
      break;
    }
  }
  return plan;
}

}  // namespace inferometer::kernels
