#include "workloads/normal_distribution.hpp"

#include <cmath>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
constexpr double kSeriesLimit = 3.0;
constexpr int kFractionDepth = 64;  // enough for 1e-15 at x = 3; fewer are needed beyond

double density(double x) {
  return kInverseSqrtTwoPi * portable_exp(-0.5 * x * x);
}

/// Share above x, for x >= kSeriesLimit: density(x) / (x + 1/(x + 2/(x + 3/(x + ...)))).
double upper_tail(double x) {
  double denominator = x;
  for (int k = kFractionDepth; k >= 1; --k) {
    denominator = x + k / denominator;
  }
  return density(x) / denominator;
}

/// Share between 0 and x, for |x| <= kSeriesLimit: density(x) * (x + x^3/3 + x^5/(3*5) + ...).
double from_center(double x) {
  double term = x;
  double sum = x;
  for (int odd = 3; std::fabs(term) > 1e-18; odd += 2) {
    term *= x * x / odd;
    sum += term;
  }
  return density(x) * sum;
}

}  // namespace

double normal_cdf(double x) {
  if (x > kSeriesLimit) {
    return 1.0 - upper_tail(x);
  }
  if (x < -kSeriesLimit) {
    return upper_tail(-x);
  }
  return 0.5 + from_center(x);
}

double normal_quantile(double p) {
  INFEROMETER_CHECK(p > 0 && p < 1, "a probability strictly between 0 and 1");
  // Solved in the lower half, where small shares are exact.
  const double tail = p < 0.5 ? p : 1.0 - p;
  const double t = portable_sqrt(-2.0 * portable_log(tail));
  const double fraction =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  double x = fraction - t;
  const double newton = (normal_cdf(x) - tail) / density(x);
  x -= newton / (1.0 + 0.5 * x * newton);
  return p < 0.5 ? x : -x;
}

double normal_correlation(double rank_correlation) {
  return 2.0 * portable_sin(kPi / 6.0 * rank_correlation);
}

}  // namespace inferometer
