#include "workloads/normal_distribution.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("the normal distribution function agrees with the error function") {
  for (double x = -37.0; x <= 9.0; x += 0.0371) {
    const double expected = 0.5 * std::erfc(-x / std::sqrt(2.0));
    CAPTURE(x);
    CHECK(std::fabs(normal_cdf(x) - expected) <= 1e-15);
    CHECK(std::fabs(normal_cdf(x) / expected - 1) <= 1e-12);
  }
  CHECK(normal_cdf(0) == 0.5);
}

TEST_CASE("the normal quantile inverts the distribution function") {
  // Table values, e.g. Abramowitz and Stegun table 26.5.
  CHECK(std::fabs(normal_quantile(0.975) - 1.959963984540054) < 1e-8);
  CHECK(std::fabs(normal_quantile(0.5)) < 1e-8);
  CHECK(std::fabs(normal_quantile(0.01) + 2.3263478740408408) < 1e-8);
  CHECK(std::fabs(normal_quantile(1e-9) + 5.9978070150076869) < 1e-8);
  for (double x = -37.0; x <= 0.0; x += 0.0371) {
    CAPTURE(x);
    CHECK(std::fabs(normal_quantile(0.5 * std::erfc(-x / std::sqrt(2.0))) - x) <= 1e-8);
  }
  for (const double p : {0.001, 0.2, 0.4999}) {
    CHECK(std::fabs(normal_quantile(p) + normal_quantile(1 - p)) < 1e-12);
  }
}

TEST_CASE("rank correlation becomes the correlation of normal variables") {
  CHECK(std::fabs(normal_correlation(1.0) - 1.0) < 1e-15);
  CHECK(normal_correlation(0.0) == 0.0);
  CHECK(std::fabs(normal_correlation(-0.5) - 2 * std::sin(-0.5 * 3.14159265358979323846 / 6)) < 1e-15);
}
