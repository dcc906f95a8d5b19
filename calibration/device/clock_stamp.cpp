#include "calibration/device/clock_stamp.hpp"

#include <cstddef>

namespace inferometer {

double mean_sm_mhz(std::span<const ClockStamp> before, std::span<const ClockStamp> after) {
  double sum = 0;
  int sms = 0;
  for (std::size_t sm = 0; sm < before.size(); ++sm) {
    if (before[sm].nanoseconds == 0 || after[sm].nanoseconds == 0) {
      continue;
    }
    const std::int64_t nanoseconds = after[sm].nanoseconds - before[sm].nanoseconds;
    const std::int64_t cycles = after[sm].cycles - before[sm].cycles;
    if (nanoseconds < kShortestClockWindowNanoseconds || cycles <= 0) {
      continue;
    }
    constexpr double kMhzPerCycleOfNanosecond = 1e3;
    sum += kMhzPerCycleOfNanosecond * static_cast<double>(cycles) / static_cast<double>(nanoseconds);
    ++sms;
  }
  return sms == 0 ? 0 : sum / sms;
}

}  // namespace inferometer
