#pragma once

// How far predictions are from measurements, by region of a fit's range. Who uses it: fits carry it, the
// validation prints it, uncertainty intervals draw from it.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inferometer {

/// Errors within a part of the range, of shapes left out of the fit.
struct RegionError {
  static constexpr std::size_t kQuantiles = 21;

  std::string region;
  std::int64_t points = 0;
  double bias = 0;    ///< mean of predicted / measured - 1
  double median = 0;  ///< of |predicted / measured - 1|; so are the next
  double mean = 0;
  double p90 = 0;
  /// Of log(measured / predicted) at 0, 5, ..., 100 %: what a prediction may be multiplied by. One more
  /// measurement lies below with that probability; of few points the ends are those of the points.
  std::array<double, kQuantiles> log_ratio{};
};

/// A predicted and a measured time, in seconds, both > 0.
struct TimePair {
  double predicted_s, measured_s;
};

/// Precondition: at least one pair.
RegionError region_error(std::string region, const std::vector<TimePair>& pairs);

/// The log ratio below which a share `at`, in [0, 1], lies; straight between quantiles.
double log_ratio_at(const RegionError& error, double at);

/// Share of the pairs whose measured time lies within the 5 to 95 % interval of the error.
double covered_90(const RegionError& error, const std::vector<TimePair>& pairs);

}  // namespace inferometer
