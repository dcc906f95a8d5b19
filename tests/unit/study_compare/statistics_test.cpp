#include "sim/study/statistics.hpp"

#include <cmath>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("quantiles of Student's t are those of published tables") {
  struct Row {
    double share;
    std::int64_t degrees;
    double t;
  };
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper tails of 0.025 and 0.005.
  const std::vector<Row> rows = {{0.95, 1, 12.706}, {0.95, 2, 4.303},   {0.95, 3, 3.182},  {0.95, 4, 2.776},
                                 {0.95, 5, 2.571},  {0.95, 9, 2.262},   {0.95, 10, 2.228}, {0.95, 30, 2.042},
                                 {0.95, 99, 1.984}, {0.95, 100, 1.984}, {0.99, 1, 63.657}, {0.99, 4, 4.604},
                                 {0.99, 9, 3.250},  {0.99, 30, 2.750}};
  for (const Row& row : rows) {
    INFO(row.share << " " << row.degrees);
    CHECK(student_t_quantile(row.share, row.degrees) == Approx(row.t).margin(0.0005).epsilon(0));
  }
}

TEST_CASE("quantiles of Student's t meet the closed forms of one and two degrees") {
  // One degree is Cauchy's distribution, P(|T| <= t) = 2 atan(t) / pi; two have P(|T| <= t) = t / sqrt(2 +
  // t^2).
  const double pi = std::acos(-1.0);
  for (const double share : {0.05, 0.5, 0.9, 0.95, 0.999}) {
    INFO(share);
    CHECK(student_t_quantile(share, 1) == Approx(std::tan(pi * share / 2)).epsilon(1e-9));
    CHECK(student_t_quantile(share, 2) == Approx(share * std::sqrt(2 / (1 - share * share))).epsilon(1e-9));
  }
}

TEST_CASE("what is outside of a quantile is what its share leaves") {
  for (const std::int64_t degrees : {1, 2, 3, 4, 7, 20, 999}) {
    for (const double share : {0.1, 0.95, 0.9999}) {
      INFO(degrees << " " << share);
      const double t = student_t_quantile(share, degrees);
      CHECK(student_t_outside(t, degrees) == Approx(1 - share).epsilon(1e-9));
      CHECK(student_t_outside(-t, degrees) == student_t_outside(t, degrees));
    }
  }
  CHECK(student_t_outside(0, 4) == Approx(1).margin(1e-12));
}

TEST_CASE("Student's own pairs: hours of sleep gained by one drug over the other") {
  // Student, The Probable Error of a Mean, Biometrika 6 (1908) 1-25, ten patients. By hand: sum 15.8, sum of
  // squares 38.58, so 38.58 - 15.8^2 / 10 = 13.616 about the mean 1.58; standard error sqrt(13.616 / 9 / 10)
  // = 0.388959; t = 4.06213 with nine degrees; half width 2.262157 * 0.388959 = 0.879886. The paper's own
  // table gives odds of about 666 to 1 that the second drug is the better one: one-sided 0.0015.
  const std::vector<double> gains = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const Estimate gain = estimate_mean(gains);
  CHECK(gain.count == 10);
  CHECK(gain.mean == Approx(1.58));
  REQUIRE(gain.half_width);
  CHECK(*gain.half_width == Approx(0.879886).epsilon(1e-5));
  CHECK(gain.low() == Approx(0.700114).epsilon(1e-5));
  CHECK(gain.high() == Approx(2.459886).epsilon(1e-5));
  CHECK(p_value_of_mean(gains) / 2 == Approx(1.0 / 667).epsilon(0.06));
}

TEST_CASE("one value has no interval and values alike leave no doubt") {
  const std::vector<double> one = {3.0};
  CHECK_FALSE(estimate_mean(one).half_width);
  CHECK(estimate_mean(one).mean == 3.0);
  const std::vector<double> alike = {2.0, 2.0, 2.0};
  CHECK(*estimate_mean(alike).half_width == 0);
  CHECK(p_value_of_mean(alike) == 0);
  const std::vector<double> zeros = {0.0, 0.0};
  CHECK(p_value_of_mean(zeros) == 1);
}

TEST_CASE("Holm's correction multiplies by the tests that are left") {
  // By hand: 0.005 * 4 = 0.02; 0.01 * 3 = 0.03; 0.03 * 2 = 0.06; 0.04 * 1 = 0.04, no less than the one
  // before.
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  REQUIRE(adjusted.size() == 4);
  CHECK(adjusted[0] == Approx(0.03));
  CHECK(adjusted[1] == Approx(0.06));
  CHECK(adjusted[2] == Approx(0.06));
  CHECK(adjusted[3] == Approx(0.02));
  CHECK(holm_adjusted(std::vector<double>{0.6, 0.7})[0] == 1);
  CHECK(holm_adjusted(std::vector<double>{}).empty());
}

}  // namespace
}  // namespace inferometer
