#include "sim/metrics/duration_moments.hpp"

#include <cmath>

namespace inferometer {

// The sums of 1, i and i^2 over the progression's terms first + i * difference.
void DurationMoments::add_progression(Duration first, Duration difference, std::int64_t length,
                                      std::int64_t count) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 46;
  constexpr std::int64_t kMost = std::int64_t{1} << 34;  // 2^34 squares below 2^92 fit 126 bits
  const std::int64_t last = first.count() + difference.count() * (length - 1);
  if (std::max(first.count(), last) >= kLargest || length >= kMost / count) {
    for (std::int64_t i = 0; i < length; ++i) {
      add(first + difference * i, count);
    }
    return;
  }
  count_ += length * count;
  least_ = std::min({least_, first.count(), last});
  most_ = std::max({most_, first.count(), last});
  const Int128 a = first.count();
  const Int128 d = difference.count();
  const Int128 n = length;
  const Int128 sum_of_i = n * (n - 1) / 2;
  const Int128 sum_of_squares = sum_of_i * (2 * n - 1) / 3;
  sum_ += count * (n * a + sum_of_i * d);
  squares_.add(count * (n * a * a + 2 * a * d * sum_of_i + d * d * sum_of_squares));
}

double DurationMoments::mean_ms() const {
  return static_cast<double>(sum_) / (static_cast<double>(count_) * kPicosecondsPerMillisecond);
}

// Deviations are taken from the mean's whole part o, as sum x^2 - 2 o sum x + n o^2 in integers, which leaves
// no digits to cancel.
double DurationMoments::standard_deviation_ms() const {
  const auto origin = static_cast<std::int64_t>(sum_ / count_);
  WideSum squares = squares_;
  squares.add(-2 * sum_, origin);
  squares.add(Int128{origin} * origin, count_);
  const double fraction = static_cast<double>(sum_ % count_) / static_cast<double>(count_);
  const double variance = squares.value() / static_cast<double>(count_) - fraction * fraction;
  return std::sqrt(std::max(variance, 0.0)) / kPicosecondsPerMillisecond;
}

}  // namespace inferometer
