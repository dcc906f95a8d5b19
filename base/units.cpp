#include "base/units.hpp"

#include <cmath>

#include "base/check.hpp"

namespace inferometer {

Duration duration_from_seconds(double seconds) {
  INFEROMETER_CHECK(seconds >= 0 && seconds < kEndOfTimeSeconds,
                    "a duration must lie between 0 and 106 days");
  return Duration(static_cast<std::int64_t>(std::ceil(seconds * kPicosecondsPerSecond)));
}

Duration operator/(Bytes work, BytesPerSecond rate) {
  return duration_from_seconds(static_cast<double>(work.count()) / rate.count());
}

Duration operator/(Flops work, FlopsPerSecond rate) {
  return duration_from_seconds(work.count() / rate.count());
}

}  // namespace inferometer
