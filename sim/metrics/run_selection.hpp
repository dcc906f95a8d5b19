#pragma once

// Order statistics of arithmetic progressions without writing their terms out.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {

/// What a distribution keeps of its values.
struct KeptValues {
  const DurationDistribution::Singles& singles;
  const DurationDistribution::Repetitions& repetitions;
  const DurationDistribution::Runs& runs;
  const DurationDistribution::Run& open;  ///< a run more; none when its length is 0
};

/// Values at the given places of the sorted singles and terms of all runs,
/// repetitions counted. `histogram`, which has counted them, says in which
/// buckets the places are; only the terms in those are looked at, by
/// quickselect: they are split around a pivot (a run that straddles it is cut by
/// one division) until the places are found. Every other pivot halves the range
/// of values, so that no input makes it slow.
/// Precondition: terms at least 0; ranks ascending, each at least 0 and below
/// the number of terms. O(kept) on average.
std::vector<std::int64_t> select_ranks(const KeptValues& kept, const DurationHistogram& histogram,
                                       std::span<const std::int64_t> ranks);

/// The middles of the buckets that hold these places. Precondition as above. O(1).
std::vector<std::int64_t> middles_at_ranks(const DurationHistogram& histogram,
                                           std::span<const std::int64_t> ranks);

}  // namespace inferometer
