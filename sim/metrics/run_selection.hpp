#pragma once

// Order statistics of arithmetic progressions without writing their terms out.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {

/// Values at the given places of the sorted terms of all runs, repetitions counted.
/// Quickselect: the terms are split around a pivot (a run that straddles it is cut by one division), and only
/// parts that hold a wanted place are looked at again. Every other pivot halves the range of values, so that
/// no order of input makes it slow. Precondition: ranks ascending, each at least 0 and below the number of
/// terms.
std::vector<std::int64_t> select_ranks(const std::vector<DurationDistribution::Run>& runs,
                                       std::span<const std::int64_t> ranks);

}  // namespace inferometer
