#pragma once

// When requests come in: one process an open loop, pulled one arrival at a time in constant memory. Who uses
// it: GeneratedWorkload (workloads/generated_workload.hpp) and workload_config. Times are computed as doubles
// of seconds inside a process and become whole picoseconds in one place, arrival_at(). Every process draws
// from the streams "workload/arrivals..." of its seed and from nothing else.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

class ArrivalProcess {
 public:
  virtual ~ArrivalProcess() = default;
  /// Arrival of the next request: never before the previous one. Throws ConfigError when it would lie beyond
  /// the 106 days that simulated time can hold.
  virtual TimePoint next() = 0;
};

/// The one place where an arrival becomes integer time: rounded up to a whole picosecond. Precondition:
/// seconds >= 0. Throws ConfigError past the end of simulated time.
TimePoint arrival_at(double seconds);

/// Independent gaps of mean 1 / rate that follow a gamma distribution of the given shape, as
/// `vllm bench serve --burstiness`: 1 = Poisson, below 1 = bursty, above 1 = regular; the gaps' coefficient
/// of variation is 1 / sqrt(burstiness). The first request comes after the first gap.
struct GammaArrivals {
  PerSecond rate;           ///< > 0
  double burstiness = 1.0;  ///< > 0
  /// When set to N: all times are scaled so that request N arrives at exactly N / rate, as `vllm bench serve`
  /// does it. Costs a second pass over the same random numbers, O(N) time at construction, no memory; at most
  /// N requests can then be asked for.
  std::optional<std::int64_t> exact_duration_for;
};
std::unique_ptr<ArrivalProcess> make_gamma_arrivals(const GammaArrivals& options, std::uint64_t seed);

/// Gamma arrivals of burstiness 1, drawn as exponential gaps.
std::unique_ptr<ArrivalProcess> make_poisson_arrivals(PerSecond rate, std::uint64_t seed,
                                                      std::optional<std::int64_t> exact_duration_for = {});

/// Request k = 1, 2, ... arrives at k / rate.
std::unique_ptr<ArrivalProcess> make_constant_arrivals(PerSecond rate);

/// Every request arrives at 0.
std::unique_ptr<ArrivalProcess> make_all_at_once_arrivals();

/// Poisson arrivals during "on" phases, silence during "off" phases, starting with "on" (an interrupted
/// Poisson process). `rate` is the mean over both; while on, requests come at rate * (mean_on + mean_off) /
/// mean_on.
struct OnOffArrivals {
  PerSecond rate;             ///< > 0, long-run mean
  Duration mean_on;           ///< > 0
  Duration mean_off;          ///< >= 0
  bool fixed_phases = false;  ///< every phase of exactly the mean length; otherwise exponential lengths
};
std::unique_ptr<ArrivalProcess> make_on_off_arrivals(const OnOffArrivals& options, std::uint64_t seed);

/// Poisson arrivals whose rate follows the time of day, by inversion of the accumulated rate.
struct DiurnalArrivals {
  PerSecond rate;               ///< > 0, mean over a day
  Duration day;                 ///< > 0; shorter than 24 h compresses the day
  Duration starts_at;           ///< time of day at which the simulation starts, in [0, day)
  std::vector<double> weights;  ///< rate by equal parts of the day, in any unit; >= 0, not all 0
};
std::unique_ptr<ArrivalProcess> make_diurnal_arrivals(const DiurnalArrivals& options, std::uint64_t seed);

/// Weights of a day that swings as a sine: 1 + a * cos(2 pi (time - peak_at) / day), a chosen so that the
/// highest rate is `peak_to_trough` (>= 1) times the lowest; 288 steps (five minutes of a 24 h day), the rate
/// at each step's middle. `peak_at` as a fraction of the day, in [0, 1).
std::vector<double> sinusoidal_day(double peak_to_trough, double peak_at);

}  // namespace inferometer
