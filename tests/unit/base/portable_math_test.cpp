#include "base/portable_math.hpp"

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

/// Distance from the true value in units of the last place of the nearest double. The long double functions
/// of the C library serve as truth: they carry 11 more bits.
double ulps(double got, long double truth) {
  const double nearest = std::abs(static_cast<double>(truth));
  const double ulp = std::nextafter(nearest, std::numeric_limits<double>::infinity()) - nearest;
  return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / ulp);
}

constexpr int kDraws = 20'000;

}  // namespace

TEST_CASE("log is within one unit in the last place") {
  RandomStream random(1, "test/log");
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double near_one = 0.25 + 2 * random.uniform();
    const double anywhere = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(2000)) - 1000);
    const double tiny = random.uniform() * 1e-310;
    for (const double x : {near_one, anywhere, tiny}) {
      worst = std::max(worst, x > 0 ? ulps(portable_log(x), std::log(static_cast<long double>(x))) : 0.0);
    }
  }
  CHECK(worst < 1.0);
}

TEST_CASE("log at the edges") {
  CHECK(portable_log(1) == 0);
  CHECK(portable_log(0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(portable_log(-1)));
  CHECK(std::isnan(portable_log(std::nan(""))));
  CHECK(portable_log(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
}

TEST_CASE("exp is within one unit in the last place") {
  RandomStream random(1, "test/exp");
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform() - 0.5;
    for (const double x : {u, 40 * u, 1400 * u}) {
      worst = std::max(worst, ulps(portable_exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  CHECK(worst < 1.0);
}

TEST_CASE("exp at the edges") {
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(710) == std::numeric_limits<double>::infinity());
  CHECK(portable_exp(709.7) < std::numeric_limits<double>::infinity());
  CHECK(portable_exp(-745.3) == 0);
  CHECK(portable_exp(-740) > 0);
  CHECK(std::isnan(portable_exp(std::nan(""))));
}

TEST_CASE("pow keeps its promised error") {
  RandomStream random(1, "test/pow");
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = 10 * random.uniform() + 1e-3;
    const double y = 8 * random.uniform() - 4;
    const long double truth = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const double bound = (1 + 1.5 * std::abs(y * std::log(x))) * 2.3e-16;
    worst = std::max(worst, std::abs(static_cast<double>((portable_pow(x, y) - truth) / truth)) / bound);
  }
  CHECK(worst <= 1);
  CHECK(portable_pow(0, 0) == 1);
  CHECK(portable_pow(0, 2) == 0);
  CHECK(portable_pow(7.3, 1) == 7.3);
  CHECK(portable_pow(0, -1) == std::numeric_limits<double>::infinity());
}

TEST_CASE("sine and cosine are accurate near and far") {
  RandomStream random(1, "test/sin");
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = 2 * random.uniform() - 1;
    for (const double x : {u, 20 * u, 1e6 * u}) {
      const long double exact = x;
      worst = std::max(worst, static_cast<double>(std::abs(portable_sin(x) - std::sin(exact))));
      worst = std::max(worst, static_cast<double>(std::abs(portable_cos(x) - std::cos(exact))));
    }
  }
  CHECK(worst < 2.3e-16);
  CHECK(portable_sin(0) == 0);
  CHECK(portable_cos(0) == 1);
  // The double nearest to pi misses it by 1.2246467991473532e-16, which is then its sine.
  CHECK(portable_sin(3.141592653589793) == Approx(1.2246467991473532e-16).epsilon(1e-15).margin(0));
  CHECK_THROWS_AS(portable_sin(2e6), std::logic_error);
}
