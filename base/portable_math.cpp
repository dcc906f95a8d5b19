#include "base/portable_math.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// ln 2 in two parts; the first has 32 bits, so that a binary exponent times it is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

/// pi/2 in three parts; the first two have 30 bits, so that a multiple below 2^23 of them is exact.
constexpr double kHalfPiHigh = 0x1.921fb54p+0;
constexpr double kHalfPiMiddle = 0x1.10b46118p-30;
constexpr double kHalfPiLow = 0x1.313198a2e0370p-61;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kLargestAngle = 1e6;

constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;

/// 2^exponent for exponents of normal doubles.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentBias) << kMantissaBits);
}

/// Nearest integer, ties to even: adding 1.5 * 2^52 leaves no room for a fraction. Precondition: |x| < 2^31.
double nearest_integer(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

template <std::size_t N>
double polynomial(double x, const std::array<double, N>& coefficients) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

/// first, first / ratio(0), first / ratio(0) / ratio(1), ... with one rounding each where the divisor is
/// exact.
template <std::size_t N, class Ratio>
constexpr std::array<double, N> series(double first, Ratio ratio) {
  std::array<double, N> result{};
  double divisor = 1 / first;
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = 1 / divisor;
    divisor *= ratio(static_cast<double>(i));
  }
  return result;
}

/// 2/3, 2/5, 2/7, ...: of 2 atanh(s) / s - 2 in powers of s^2. s^2 < 0.0295, so that 11 terms reach 2^-58.
constexpr std::array<double, 11> kAtanh = [] {
  std::array<double, 11> result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = 2.0 / static_cast<double>(2 * i + 3);
  }
  return result;
}();
/// 1/2!, 1/3!, ... : of (e^r - 1 - r) / r^2.
constexpr auto kExp = series<12>(0.5, [](double i) { return i + 3; });
/// -1/3!, 1/5!, ...: of (sin r - r) / r^3 in powers of r^2.
constexpr auto kSin = series<8>(-1.0 / 6, [](double i) { return -(2 * i + 4) * (2 * i + 5); });
/// 1/4!, -1/6!, ...: of (cos r - 1 + r^2/2) / r^4 in powers of r^2.
constexpr auto kCos = series<8>(1.0 / 24, [](double i) { return -(2 * i + 5) * (2 * i + 6); });

/// sin(r + rest) and cos(r + rest) for |r| <= pi/4.
double sin_near_zero(double r, double rest) {
  const double square = r * r;
  return r + (r * square * polynomial(square, kSin) + rest * (1 - 0.5 * square));
}
double cos_near_zero(double r, double rest) {
  const double square = r * r;
  const double half = 0.5 * square;
  const double leading = 1 - half;
  return leading + (((1 - leading) - half) + (square * square * polynomial(square, kCos) - r * rest));
}

/// sin(x + quarter_turns * pi/2).
double sin_turned(double x, unsigned quarter_turns) {
  INFEROMETER_CHECK(std::abs(x) <= kLargestAngle, "an angle too large for its reduction");
  const double turns = nearest_integer(x * kTwoOverPi);
  const double coarse = (x - turns * kHalfPiHigh) - turns * kHalfPiMiddle;
  const double low = turns * kHalfPiLow;
  const double r = coarse - low;
  const double rest = (coarse - r) - low;
  const unsigned quadrant = (static_cast<unsigned>(static_cast<std::int64_t>(turns)) + quarter_turns) & 3u;
  const double magnitude = (quadrant & 1u) == 0 ? sin_near_zero(r, rest) : cos_near_zero(r, rest);
  return quadrant < 2 ? magnitude : -magnitude;
}

}  // namespace

double portable_log(double x) {
  if (!(x > 0)) {
    return x == 0 ? -kInfinity : kNan;
  }
  if (x == kInfinity) {
    return x;
  }
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  double mantissa = std::bit_cast<double>((bits & kMantissaMask) |
                                          (static_cast<std::uint64_t>(kExponentBias) << kMantissaBits));
  if (mantissa > 2 * kSqrtHalf) {
    mantissa *= 0.5;
    ++exponent;
  }
  // log(1 + f) = 2 atanh(s) with s = f / (2 + f), and 2 s = f - s f: f is exact, and what follows it is
  // small.
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double square = s * s;
  const double correction = s * (f - square * polynomial(square, kAtanh));
  const double k = exponent;
  return k * kLn2High - ((correction - k * kLn2Low) - f);
}

double portable_exp(double x) {
  constexpr double kOverflow = 709.782712893384;
  constexpr double kUnderflow = -745.2;
  if (x != x) {
    return x;
  }
  if (x > kOverflow) {
    return kInfinity;
  }
  if (x < kUnderflow) {
    return 0;
  }
  const double k = nearest_integer(x * kOneOverLn2);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double rest = (high - r) - low;
  const double value = 1 + (r + (r * r * polynomial(r, kExp) + rest * (1 + r)));
  const int exponent = static_cast<int>(k);
  const int half = exponent / 2;  // in two steps, since 2^exponent itself may not be a normal double
  return value * power_of_two(half) * power_of_two(exponent - half);
}

double portable_pow(double x, double y) {
  if (y == 0 || x == 1) {
    return 1;
  }
  if (y == 1) {
    return x;
  }
  return portable_exp(y * portable_log(x));
}

double portable_sin(double x) {
  return sin_turned(x, 0);
}

double portable_cos(double x) {
  return sin_turned(x, 1);
}

double portable_sqrt(double x) {
  return std::sqrt(x);
}

}  // namespace inferometer
