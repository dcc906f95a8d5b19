#pragma once

// Order statistics of arithmetic progressions without writing their terms out.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {

/// Values at the given places of the sorted terms of all runs, repetitions
/// counted. Terms are counted by magnitude first, in buckets as wide as 1/256
/// of their values, and only those in the buckets that hold a wanted place are
/// looked at again, by quickselect: they are split around a pivot (a run that
/// straddles it is cut by one division) until the places are found. Every other
/// pivot halves the range of values, so that no input makes it slow.
/// Precondition: terms at least 0; ranks ascending, each at least 0 and below
/// the number of terms.
std::vector<std::int64_t> select_ranks(const DurationDistribution::Runs& runs,
                                       std::span<const std::int64_t> ranks);

}  // namespace inferometer
