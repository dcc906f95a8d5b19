#include "sim/replica/stretch.hpp"

#include <algorithm>
#include <cmath>

#include "base/int128.hpp"

namespace inferometer {
namespace {

/// Real number of steps after which the line's sum reaches `time`: the root of b k^2 / 2 + (a - b / 2) k =
/// time, in the form that loses no digits when b is small.
double root(double first, double growth, double time) {
  const double linear = first - growth / 2;
  return 2 * time / (linear + std::sqrt(linear * linear + 2 * growth * time));
}

}  // namespace

std::int64_t Stretch::steps_to_last(Duration time) const {
  if (time.count() <= first_ps_) {
    return 1;
  }
  constexpr double kMostSteps = 9e18;  // fits 64 bits
  const double guess = root(static_cast<double>(first_ps_), static_cast<double>(growth_ps_),
                            static_cast<double>(time.count()));
  auto steps = std::min(steps_, static_cast<std::int64_t>(std::clamp(guess, 1.0, kMostSteps)));
  while (steps > 1 && time_of(steps - 1) >= time) {
    --steps;
  }
  while (time_of(steps) < time) {
    ++steps;
  }
  return steps;
}

std::int64_t steps_within(const StepLine& line, std::int64_t most, Duration limit) {
  const Int128 first = line.first.total().count();
  const Int128 growth = line.growth.total().count();
  const auto fits = [&](std::int64_t steps) {
    // In this order nothing leaves 128 bits: each factor of the last product is below 2^64.
    const Int128 last_growth = growth * (steps - 1);
    return first * steps <= limit.count() && last_growth / 2 <= limit.count() &&
           first * steps + last_growth * steps / 2 <= limit.count();
  };
  if (fits(most)) {
    return most;
  }
  std::int64_t low = 0;
  std::int64_t high = most;  // low fits, high does not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace inferometer
