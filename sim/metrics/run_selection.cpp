#include "sim/metrics/run_selection.hpp"

#include <algorithm>
#include <bit>
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
    terms += run.terms();
    lowest = std::min(lowest, run.first);
    highest = std::max(highest, run.last());
  }
};

Run ascending(const Run& run) {
  return run.difference < 0 ? Run{run.last(), -run.difference, run.length, run.count} : run;
}

std::int64_t middle_term(const Run& run) {
  return run.first + std::int64_t{run.difference} * (run.length / 2);
}

/// Takes the terms up to `highest` off the run and returns them. Precondition:
/// first <= highest < last.
Run take_up_to(Run& run, std::int64_t highest) {
  const auto low = static_cast<std::uint16_t>((highest - run.first) / run.difference + 1);
  const Run taken{run.first, run.difference, low, run.count};
  run.first += std::int64_t{run.difference} * low;
  run.length = static_cast<std::uint16_t>(run.length - low);
  return taken;
}

/// The median of the middle terms of nine runs spread over the part:
/// deterministic, and good for any data that was not made to defeat it.
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
    Run rest = run;
    below.add(take_up_to(rest, pivot));
    above.add(rest);
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
  const std::int64_t pivot = halve_range ? middle
                                         : std::min(sampled_pivot(part.runs),
                                                    part.highest - 1);  // both parts get terms
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

/// Values of the same leading bits: whole numbers up to 511, then 256 buckets
/// for every power of two.
struct Bucket {
  static constexpr int kLeadingBits = 9;
  static constexpr std::size_t kPerPower = std::size_t{1} << (kLeadingBits - 1);
  static constexpr std::size_t kCount =
      kPerPower * (std::numeric_limits<std::int64_t>::digits - kLeadingBits + 2);

  std::size_t index;
  std::int64_t highest;

  static Bucket of(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    const int dropped = std::max(0, static_cast<int>(std::bit_width(bits)) - kLeadingBits);
    const std::uint64_t rest = (std::uint64_t{1} << dropped) - 1;
    return {kPerPower * static_cast<std::size_t>(dropped) + static_cast<std::size_t>(bits >> dropped),
            static_cast<std::int64_t>(bits | rest)};
  }
};

/// Calls visit(bucket index, part of the run in that bucket), in ascending
/// order.
template <class Visit>
void visit_by_bucket(const Run& run, Visit&& visit) {
  Run rest = ascending(run);
  Bucket bucket = Bucket::of(rest.first);
  while (rest.last() > bucket.highest) {
    visit(bucket.index, take_up_to(rest, bucket.highest));
    bucket = Bucket::of(rest.first);
  }
  visit(bucket.index, rest);
}

/// A bucket that holds wanted places, which are successive ones.
struct WantedBucket {
  std::size_t first_rank = 0;
  std::size_t end_rank = 0;
  std::int64_t terms_before = 0;
  Part part{};
};

constexpr std::int32_t kNotWanted = -1;

/// `place_of` gets the place of each bucket among those wanted.
std::vector<WantedBucket> wanted_buckets(const std::vector<std::int64_t>& terms_by_bucket,
                                         std::span<const std::int64_t> ranks,
                                         std::vector<std::int32_t>& place_of) {
  std::vector<WantedBucket> wanted;
  std::int64_t before = 0;
  std::size_t rank = 0;
  for (std::size_t bucket = 0; bucket < Bucket::kCount && rank < ranks.size(); ++bucket) {
    const std::int64_t end = before + terms_by_bucket[bucket];
    if (ranks[rank] < end) {
      const std::size_t first = rank;
      while (rank < ranks.size() && ranks[rank] < end) {
        ++rank;
      }
      place_of[bucket] = static_cast<std::int32_t>(wanted.size());
      wanted.push_back({first, rank, before});
    }
    before = end;
  }
  INFEROMETER_CHECK(rank == ranks.size(), "a rank names a term");
  return wanted;
}

}  // namespace

std::vector<std::int64_t> select_ranks(const DurationDistribution::Runs& runs,
                                       std::span<const std::int64_t> ranks) {
  INFEROMETER_CHECK(std::is_sorted(ranks.begin(), ranks.end()) && (ranks.empty() || ranks.front() >= 0),
                    "ranks ascend from 0");
  std::vector<std::int64_t> terms_by_bucket(Bucket::kCount);
  for (const Run& run : runs) {
    visit_by_bucket(run,
                    [&](std::size_t bucket, const Run& part) { terms_by_bucket[bucket] += part.terms(); });
  }
  std::vector<std::int32_t> place_of(Bucket::kCount, kNotWanted);
  std::vector<WantedBucket> wanted = wanted_buckets(terms_by_bucket, ranks, place_of);
  for (const Run& run : runs) {
    visit_by_bucket(run, [&](std::size_t bucket, const Run& part) {
      if (place_of[bucket] != kNotWanted) {
        wanted[static_cast<std::size_t>(place_of[bucket])].part.add(part);
      }
    });
  }
  std::vector<std::int64_t> values(ranks.size());
  for (const WantedBucket& bucket : wanted) {
    const std::size_t count = bucket.end_rank - bucket.first_rank;
    select(bucket.part, ranks.subspan(bucket.first_rank, count), bucket.terms_before, false,
           std::span(values).subspan(bucket.first_rank, count));
  }
  return values;
}

}  // namespace inferometer
