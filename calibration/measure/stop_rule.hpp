#pragma once

// When enough samples of a kernel's time were taken, and what they come to. Pure: the caller says how long it
// took. Who uses it: measure_point.hpp.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace inferometer {

/// When a point is measured enough: whichever comes first, but not before least_samples; when the time is
/// over, three do.
struct StopRule {
  std::int64_t least_samples = 10;  ///< from 3 on
  std::int64_t most_samples = 256;  ///< least_samples to kMostSamples
  double most_seconds = 2;          ///< of taking samples, whose cache flushes included; > 0
  double narrow_share = 0.005;      ///< width of the median's confidence interval, as a share of it
  double confidence = 0.95;         ///< of that interval; above 0, under 1
  static constexpr std::int64_t kMostSamples = 1000;  ///< 2^-1000 is still a normal double
};

/// "median of 10 to 256 samples in at most 2 s, until its 95 % interval is narrower than 0.5 %"
std::string to_string(const StopRule& rule);

enum class StopReason {
  narrow,         ///< the interval of the median is as narrow as asked for
  noise_settled,  ///< more samples do not make it narrower: the times drift or have two modes
  most_samples,
  most_seconds
};

/// Why no further sample is needed; nothing while one is. `samples` in the order in which they were taken, in
/// seconds, all above 0; `elapsed_seconds` is what taking them took. O(n log n).
/// Precondition: a rule within its ranges.
std::optional<StopReason> why_stop(std::span<const double> samples, double elapsed_seconds,
                                   const StopRule& rule);

/// Width of the confidence interval of the median between two order statistics of the samples, which holds
/// whatever their distribution (binomial with p = 1/2), as a share of their median. Infinite where there are
/// too few samples for that confidence. Precondition: 1 to StopRule::kMostSamples samples.
double median_interval_share(std::span<const double> samples, double confidence);

struct Quartiles {
  double min = 0, q1 = 0, median = 0, q3 = 0;
};

/// Between two samples the quartiles are interpolated linearly, as in numpy. Precondition: not empty.
Quartiles quartiles(std::span<const double> samples);

}  // namespace inferometer
