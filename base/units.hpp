#pragma once

// Strong types for everything that has a unit. Who uses it: every part of the project.
// Time is int64 picoseconds, so that sums of step times are exact and equal on every machine; a duration is
// made from a rate in one place only (`work / rate`), rounded up to a whole picosecond.

#include <compare>
#include <cstdint>

namespace inferometer {

/// A number that knows its unit. `Tag` names the unit, `Rep` is the stored type.
/// Adding and comparing need the same unit; scaling takes a bare number; `a / b` of one unit is a bare ratio.
template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep count) : count_(count) {}

  /// The bare number, in the unit of the type.
  [[nodiscard]] constexpr Rep count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(a.count_ * factor); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return Quantity(a.count_ * factor); }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.count_ / divisor); }

 private:
  Rep count_{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using TokenCount = Quantity<struct TokenTag, std::int64_t>;
using BlockCount = Quantity<struct BlockTag, std::int64_t>;
/// Floating-point operations; a double, since one step of a large model can pass 2^63. Exact up to 2^53.
using Flops = Quantity<struct FlopsTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag, double>;
/// Requests (or other events) per second.
using PerSecond = Quantity<struct PerSecondTag, double>;
using Dollars = Quantity<struct DollarsTag, double>;
using DollarsPerHour = Quantity<struct DollarsPerHourTag, double>;
using Joules = Quantity<struct JoulesTag, double>;
using Watts = Quantity<struct WattsTag, double>;
using Hertz = Quantity<struct HertzTag, double>;

/// A span of simulated time in picoseconds. Range: +-106 days.
using Duration = Quantity<struct DurationTag, std::int64_t>;

constexpr Duration picoseconds(std::int64_t n) {
  return Duration(n);
}
constexpr Duration nanoseconds(std::int64_t n) {
  return Duration(n * 1'000);
}
constexpr Duration microseconds(std::int64_t n) {
  return Duration(n * 1'000'000);
}
constexpr Duration milliseconds(std::int64_t n) {
  return Duration(n * 1'000'000'000);
}
constexpr Duration seconds(std::int64_t n) {
  return Duration(n * 1'000'000'000'000);
}

inline constexpr double kPicosecondsPerSecond = 1e12;
/// 106 days: no request arrives and no step ends later. Six hours before the integers end.
inline constexpr double kEndOfTimeSeconds = 9.2e6;
inline constexpr double kPicosecondsPerMillisecond = 1e9;

/// For output and for statistics only: simulated time itself never passes through a double.
constexpr double to_seconds(Duration d) {
  return static_cast<double>(d.count()) / kPicosecondsPerSecond;
}
constexpr double to_milliseconds(Duration d) {
  return static_cast<double>(d.count()) / kPicosecondsPerMillisecond;
}

/// Rounds up to a whole picosecond. Precondition: 0 <= seconds < kEndOfTimeSeconds.
Duration duration_from_seconds(double seconds);

/// Time to move or compute so much at such a rate, rounded up to a whole picosecond. Precondition: rate > 0.
Duration operator/(Bytes work, BytesPerSecond rate);
Duration operator/(Flops work, FlopsPerSecond rate);

/// A moment of simulated time: picoseconds since the start of the simulation.
class TimePoint {
 public:
  constexpr TimePoint() = default;
  constexpr explicit TimePoint(Duration since_start) : since_start_(since_start) {}

  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }
  constexpr auto operator<=>(const TimePoint&) const = default;

  friend constexpr TimePoint operator+(TimePoint t, Duration d) { return TimePoint(t.since_start_ + d); }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) { return TimePoint(t.since_start_ - d); }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) { return a.since_start_ - b.since_start_; }

 private:
  Duration since_start_;
};

/// Smallest integer >= a / b. Precondition: a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// KV blocks that `tokens` fill when a block holds `block_size` tokens.
constexpr BlockCount blocks_for(TokenCount tokens, std::int64_t block_size) {
  return BlockCount(ceil_div(tokens.count(), block_size));
}

}  // namespace inferometer
