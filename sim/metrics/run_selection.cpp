#include "sim/metrics/run_selection.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

using Run = DurationDistribution::Run;

/// Runs with a difference of at least zero, and what they span.
struct Part {
  std::vector<Run> runs;
  std::int64_t terms = 0;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();

  void add(const Run& run) {
    runs.push_back(run);
    terms += std::int64_t{run.length} * run.count;
    lowest = std::min(lowest, run.first);
    highest = std::max(highest, run.last());
  }
};

Run ascending(const Run& run) {
  return run.difference < 0 ? Run{run.last(), -run.difference, run.length, run.count} : run;
}

std::int64_t middle_term(const Run& run) {
  return run.first + run.difference * (run.length / 2);
}

/// The median of the middle terms of nine runs spread over the part: deterministic, and good for any data
/// that was not made to defeat it.
std::int64_t sampled_pivot(const std::vector<Run>& runs) {
  constexpr std::size_t kSamples = 9;
  std::int64_t sample[kSamples];
  for (std::size_t i = 0; i < kSamples; ++i) {
    sample[i] = middle_term(runs[(runs.size() - 1) * i / (kSamples - 1)]);
  }
  std::nth_element(sample, sample + kSamples / 2, sample + kSamples);
  return sample[kSamples / 2];
}

/// Cuts a run into its terms up to the pivot and those above.
void split(const Run& run, std::int64_t pivot, Part& below, Part& above) {
  if (run.last() <= pivot) {
    below.add(run);
  } else if (run.first > pivot) {
    above.add(run);
  } else {
    const auto low = static_cast<std::int32_t>((pivot - run.first) / run.difference + 1);
    below.add({run.first, run.difference, low, run.count});
    above.add({run.first + run.difference * low, run.difference, run.length - low, run.count});
  }
}

void select(const Part& part, std::span<const std::int64_t> ranks, std::int64_t terms_before,
            bool halve_range, std::span<std::int64_t> values) {
  if (ranks.empty()) {
    return;
  }
  if (part.runs.size() == 1) {
    const Run& run = part.runs.front();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      values[i] = run.first + run.difference * ((ranks[i] - terms_before) / run.count);
    }
    return;
  }
  if (part.lowest == part.highest) {
    std::fill(values.begin(), values.end(), part.lowest);
    return;
  }
  const std::int64_t middle = part.lowest + (part.highest - part.lowest) / 2;
  const std::int64_t pivot =
      halve_range ? middle : std::min(sampled_pivot(part.runs), part.highest - 1);  // both parts get terms
  Part below, above;
  below.runs.reserve(part.runs.size() / 2);
  above.runs.reserve(part.runs.size() / 2);
  for (const Run& run : part.runs) {
    split(run, pivot, below, above);
  }
  const std::int64_t before_above = terms_before + below.terms;
  const auto cut =
      static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), before_above) - ranks.begin());
  select(below, ranks.first(cut), terms_before, !halve_range, values.first(cut));
  below = Part();
  select(above, ranks.subspan(cut), before_above, !halve_range, values.subspan(cut));
}

}  // namespace

std::vector<std::int64_t> select_ranks(const std::vector<Run>& runs, std::span<const std::int64_t> ranks) {
  Part all;
  all.runs.reserve(runs.size());
  for (const Run& run : runs) {
    all.add(ascending(run));
  }
  INFEROMETER_CHECK(std::is_sorted(ranks.begin(), ranks.end()), "ranks ascend");
  INFEROMETER_CHECK(ranks.empty() || (ranks.front() >= 0 && ranks.back() < all.terms), "a rank names a term");
  std::vector<std::int64_t> values(ranks.size());
  select(all, ranks, 0, false, values);
  return values;
}

}  // namespace inferometer
