#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"

namespace inferometer {

std::int64_t whole_axis(const KernelCall& call, std::string_view name, std::int64_t least) {
  const double value = call.axes[axis_index(call.family, name)];
  constexpr double kLargest = 9007199254740992.0;  // 2^53: whole numbers are exact up to here
  if (!(value >= static_cast<double>(least) && value <= kLargest && value == std::floor(value))) {
    throw NotPrepared(Prepared::Outcome::unsupported,
                      fmt::format("{} is {}; a whole number >= {} can be run", name, value, least));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace inferometer
