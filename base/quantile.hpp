#pragma once

// Quantiles of a few values, for reports.

#include <algorithm>
#include <cstddef>
#include <span>

namespace inferometer {

/// The value that a share of these lies below, straight from neighbour to neighbour: the first at 0, the last
/// at 1. Precondition: ascending, at least one; share in [0, 1]. O(1).
inline double quantile(std::span<const double> ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, ascending.size() - 1);
  return ascending[low] + (place - static_cast<double>(low)) * (ascending[high] - ascending[low]);
}

}  // namespace inferometer
