#pragma once

#include <functional>
#include <optional>

#include "sim/study/plan/size_search.hpp"

namespace inferometer {

/// Nothing when the outcome is not known yet.
using RateProbe = std::function<std::optional<Probe>(double factor)>;

/// Factors of the study's traffic between which the SLO is lost.
struct RateAnswer {
  double low = 0;   ///< meets; 0 when not even kSmallestRateFactor does
  double high = 0;  ///< misses; infinity when not even kLargestRateFactor does
};

inline constexpr double kSmallestRateFactor = 1e-3;
inline constexpr double kLargestRateFactor = 1e3;

/// The highest factor that meets, where every one below it does too, to within `tolerance`: high <= (1 +
/// tolerance) low. Begins with 1, then goes where the load says that the capacity is, then halves the ratio.
/// A single misleading outcome near the limit moves the answer by what separates it from the truth, not
/// farther. Factors are rounded to five digits. Nothing when it needs an outcome that is not known.
/// Precondition: tolerance >= 0.001.
std::optional<RateAnswer> find_highest_rate(double tolerance, const RateProbe& probe);

}  // namespace inferometer
