#include "sim/study/statistics.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {
namespace {

constexpr double kPi = 3.14159265358979323846;
/// Halvings of an angle between 0 and a right one, until doubles have no number between.
constexpr int kHalvings = 60;

/// The probability that |T| <= sqrt(degrees) tan(angle): M. Abramowitz, I. Stegun, Handbook of Mathematical
/// Functions (1964), 26.7.3 for odd degrees and 26.7.4 for even ones. Finite sums of sine and cosine.
double student_t_within(double angle, std::int64_t degrees) {
  const double sine = portable_sin(angle);
  const double cosine = portable_cos(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1.0;
  double sum = 0;
  // The next term has two more powers of the cosine.
  for (std::int64_t power = is_odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  return is_odd ? 2 / kPi * (angle + sine * sum) : sine * sum;
}

/// The angle up to which `is_below` holds. Precondition: it holds up to some angle, and not beyond.
template <class Predicate>
double last_angle(Predicate is_below) {
  double low = 0;
  double high = kPi / 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return low;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Standard error of the mean. Precondition: two values at least.
double standard_error(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  const auto count = static_cast<double>(values.size());
  return portable_sqrt(squares / (count - 1) / count);
}

}  // namespace

Estimate estimate_mean(std::span<const double> values) {
  INFEROMETER_CHECK(!values.empty(), "a mean is of something");
  Estimate estimate;
  estimate.count = static_cast<std::int64_t>(values.size());
  estimate.mean = mean_of(values);
  if (estimate.count > 1) {
    estimate.half_width =
        student_t_quantile(kConfidence, estimate.count - 1) * standard_error(values, estimate.mean);
  }
  return estimate;
}

double p_value_of_mean(std::span<const double> values) {
  INFEROMETER_CHECK(values.size() > 1, "one value shows nothing");
  const double mean = mean_of(values);
  const double error = standard_error(values, mean);
  if (error == 0) {
    return mean == 0 ? 1.0 : 0.0;
  }
  return student_t_outside(mean / error, static_cast<std::int64_t>(values.size()) - 1);
}

double student_t_quantile(double share, std::int64_t degrees) {
  const double angle = last_angle([&](double each) { return student_t_within(each, degrees) < share; });
  return portable_sqrt(static_cast<double>(degrees)) * portable_sin(angle) / portable_cos(angle);
}

double student_t_outside(double t, std::int64_t degrees) {
  const double size = t < 0 ? -t : t;
  const double root = portable_sqrt(static_cast<double>(degrees));
  const double angle =
      last_angle([&](double each) { return root * portable_sin(each) < size * portable_cos(each); });
  return std::clamp(1 - student_t_within(angle, degrees), 0.0, 1.0);
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p_values[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace inferometer
