#pragma once

// Means of a few runs and how sure they are. Who uses it: comparisons, whose runs differ in their seed.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace inferometer {

/// How often an interval holds the true mean, and 1 - how often a difference is shown where there is none.
inline constexpr double kConfidence = 0.95;

/// A mean with its two-sided interval of kConfidence by Student's t, for values that scatter about as a
/// normal distribution does.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width;  ///< absent for a single value
  std::int64_t count = 0;            ///< values behind it

  [[nodiscard]] double low() const { return mean - half_width.value_or(0); }
  [[nodiscard]] double high() const { return mean + half_width.value_or(0); }
};

/// Precondition: at least one value.
Estimate estimate_mean(std::span<const double> values);

/// The two-sided p-value of the values' mean against 0: how often chance alone makes one as far from 0, where
/// the truth is 0. 0 for values that are all alike and not 0, 1 when all are 0. Precondition: two values at
/// least.
double p_value_of_mean(std::span<const double> values);

/// The t that a variable of Student's distribution stays within, to both sides, with probability `share`.
/// Within 1e-9 of the true value, relatively. Precondition: 0 < share < 1, degrees >= 1. O(degrees), and the
/// same bits on any machine.
double student_t_quantile(double share, std::int64_t degrees);

/// The probability that such a variable is farther from 0 than t. Likewise; absolute error below 1e-14.
double student_t_outside(double t, std::int64_t degrees);

/// p-values of several tests as adjusted by Holm: where all are compared with a level, the probability that
/// any of them is below it by chance alone is at most that level, however they depend on one another. S.
/// Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6 (1979)
/// 65-70. O(n log n).
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace inferometer
