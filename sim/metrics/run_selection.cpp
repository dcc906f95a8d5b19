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

/// Calls visit(bucket index, part of the run in that bucket), in ascending
/// order.
template <class Visit>
void visit_by_bucket(const Run& run, Visit&& visit) {
  const std::size_t first = DurationBucket::index_of(run.first);
  if (run.length == 1 || first == DurationBucket::index_of(run.last())) {
    visit(first, run);
    return;
  }
  Run rest = ascending(run);
  std::int64_t highest = DurationBucket::highest_like(rest.first);
  while (rest.last() > highest) {
    const Run taken = take_up_to(rest, highest);
    visit(DurationBucket::index_of(taken.first), taken);
    highest = DurationBucket::highest_like(rest.first);
  }
  visit(DurationBucket::index_of(rest.first), rest);
}

/// A bucket that holds wanted places, which are successive ones.
struct WantedBucket {
  std::size_t index = 0;
  std::size_t first_rank = 0;
  std::size_t end_rank = 0;
  std::int64_t terms_before = 0;
  Part part{};
};

std::vector<WantedBucket> wanted_buckets(const DurationHistogram& histogram,
                                         std::span<const std::int64_t> ranks) {
  INFEROMETER_CHECK(std::is_sorted(ranks.begin(), ranks.end()) && (ranks.empty() || ranks.front() >= 0),
                    "ranks ascend from 0");
  std::vector<WantedBucket> wanted;
  std::int64_t before = 0;
  std::size_t rank = 0;
  for (std::size_t bucket = 0; bucket < DurationBucket::kCount && rank < ranks.size(); ++bucket) {
    const std::int64_t end = before + histogram.counts()[bucket];
    if (ranks[rank] < end) {
      const std::size_t first = rank;
      while (rank < ranks.size() && ranks[rank] < end) {
        ++rank;
      }
      wanted.push_back({bucket, first, rank, before});
    }
    before = end;
  }
  INFEROMETER_CHECK(rank == ranks.size(), "a rank names a term");
  return wanted;
}

/// Gathers the terms of the wanted buckets.
class Gatherer {
 public:
  explicit Gatherer(std::vector<WantedBucket>& wanted) : wanted_(wanted), place_of_(DurationBucket::kCount) {
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      place_of_[wanted[place].index] = static_cast<std::uint16_t>(place + 1);
    }
  }

  void add(const DurationDistribution::Singles& singles) {
    for (std::size_t chunk = 0; chunk < singles.chunks(); ++chunk) {
      for (const std::int64_t value : singles.chunk(chunk)) {
        if (const std::uint16_t place = place_of_[DurationBucket::index_of(value)]) {
          wanted_[place - 1U].part.add({value, 0, 1, 1});
        }
      }
    }
  }

  void add(const DurationDistribution::Repetitions& repetitions) {
    for (std::size_t chunk = 0; chunk < repetitions.chunks(); ++chunk) {
      for (const DurationDistribution::Repeated& repeated : repetitions.chunk(chunk)) {
        const Run run = repeated.run();
        if (const std::uint16_t place = place_of_[DurationBucket::index_of(run.first)]) {
          wanted_[place - 1U].part.add(run);
        }
      }
    }
  }

  void add(const DurationDistribution::Runs& runs) {
    for (std::size_t chunk = 0; chunk < runs.chunks(); ++chunk) {
      for (const Run& run : runs.chunk(chunk)) {
        add(run);
      }
    }
  }

  void add(const Run& run) {
    visit_by_bucket(run, [&](std::size_t bucket, const Run& part) {
      if (const std::uint16_t place = place_of_[bucket]) {
        wanted_[place - 1U].part.add(ascending(part));
      }
    });
  }

 private:
  static_assert(DurationBucket::kCount < std::numeric_limits<std::uint16_t>::max());

  std::vector<WantedBucket>& wanted_;
  std::vector<std::uint16_t> place_of_;  // by bucket: place among the wanted, from 1 on; 0 = not wanted
};

}  // namespace

std::vector<std::int64_t> select_ranks(const KeptValues& kept, const DurationHistogram& histogram,
                                       std::span<const std::int64_t> ranks) {
  std::vector<WantedBucket> wanted = wanted_buckets(histogram, ranks);
  Gatherer gatherer(wanted);
  gatherer.add(kept.singles);
  gatherer.add(kept.repetitions);
  gatherer.add(kept.runs);
  if (kept.open.length > 0) {
    gatherer.add(kept.open);
  }
  std::vector<std::int64_t> values(ranks.size());
  for (const WantedBucket& bucket : wanted) {
    const std::size_t count = bucket.end_rank - bucket.first_rank;
    select(bucket.part, ranks.subspan(bucket.first_rank, count), bucket.terms_before, false,
           std::span(values).subspan(bucket.first_rank, count));
  }
  return values;
}

std::vector<std::int64_t> middles_at_ranks(const DurationHistogram& histogram,
                                           std::span<const std::int64_t> ranks) {
  std::vector<std::int64_t> values(ranks.size());
  for (const WantedBucket& bucket : wanted_buckets(histogram, ranks)) {
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(bucket.first_rank),
              values.begin() + static_cast<std::ptrdiff_t>(bucket.end_rank),
              DurationBucket::middle_of(bucket.index));
  }
  return values;
}

}  // namespace inferometer
