#include "workloads/rate_scaler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace inferometer {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr int kDoubleDigits = 53;
constexpr int kWidestShift = 63;  // a time has 63 bits, so that a shifted one still fits 128
constexpr Wide kLongest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());

}  // namespace

RateScaler::RateScaler(double factor) {
  INFEROMETER_CHECK(std::isfinite(factor) && factor > 0, "a rate is scaled by a positive number");
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  mantissa_ = static_cast<std::uint64_t>(std::ldexp(fraction, kDoubleDigits));
  exponent_ = exponent - kDoubleDigits;
  const int zeros = std::countr_zero(mantissa_);
  mantissa_ >>= zeros;
  exponent_ += zeros;
}

std::optional<Duration> RateScaler::divide(Duration time) const {
  if (is_one() || time.count() == 0) {
    return time;
  }
  if (exponent_ > kWidestShift) {
    return Duration(0);
  }
  const Wide divisor = static_cast<Wide>(mantissa_) << std::max(exponent_, 0);
  const int shift = std::max(-exponent_, 0);
  const Wide dividend = static_cast<Wide>(time.count()) << std::min(shift, kWidestShift);
  Wide quotient = dividend / divisor;
  Wide remainder = dividend % divisor;
  for (int left = shift - kWidestShift; left > 0 && quotient <= kLongest; --left) {
    remainder *= 2;
    quotient = 2 * quotient + (remainder >= divisor ? 1 : 0);
    remainder -= remainder >= divisor ? divisor : 0;
  }
  quotient += 2 * remainder >= divisor ? 1 : 0;
  if (quotient > kLongest) {
    return std::nullopt;
  }
  return Duration(static_cast<std::int64_t>(quotient));
}

}  // namespace inferometer
