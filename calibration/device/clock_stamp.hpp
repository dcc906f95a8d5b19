#pragma once

// The SM clock while a kernel ran, from stamps that each SM sets before and after it. Who uses it:
// timer_kernels.hpp writes stamps, timer.cpp reads them.

#include <cstdint>
#include <span>

namespace inferometer {

/// Both counters of one SM at one moment; 0 where the SM set none.
struct ClockStamp {
  std::int64_t cycles = 0;       ///< of the SM's own clock
  std::int64_t nanoseconds = 0;  ///< of the GPU's timer
};

/// Mean clock over the SMs that set both stamps, in MHz; 0 when none did, or when too little time passed for
/// the GPU's timer, which some GPUs advance once a microsecond only. Precondition: equal sizes.
double mean_sm_mhz(std::span<const ClockStamp> before, std::span<const ClockStamp> after);

/// Below this the timer's step may be more than 5 % of the time.
inline constexpr std::int64_t kShortestClockWindowNanoseconds = 20'000;

}  // namespace inferometer
