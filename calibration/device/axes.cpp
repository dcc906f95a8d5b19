#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"

namespace inferometer {

std::int64_t whole_axis(const KernelCall& call, std::string_view name, std::int64_t least) {
  const double value = call.axes[axis_index(call.family, name)];
  constexpr double kLargest = 0x1p31;  // products of two are integers still; kernels count no further
  if (!(value >= static_cast<double>(least) && value <= kLargest && value == std::floor(value))) {
    throw NotPrepared(Prepared::Outcome::unsupported,
                      fmt::format("{} is {}; a whole number from {} to 2^31 can be run", name, value, least));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace inferometer
