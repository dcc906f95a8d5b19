#include "calibration/device/comparison.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("outputs pass up to what is allowed and no further", "[comparison]") {
  Comparison comparison;
  comparison.add(3, 1.0, 1.5, 0.5);
  comparison.add(4, -1.0, -1.125, 0.5);
  CHECK(comparison.result().passed);
  CHECK(comparison.result().worst_error == 1);
  CHECK(comparison.result().compared == 2);
  CHECK(comparison.result().first_wrong.empty());

  comparison.add(17, 0.25, 0.5, 0.2);
  comparison.add(18, 9, 0, 1);
  CHECK_FALSE(comparison.result().passed);
  CHECK(comparison.result().worst_error == 9);
  CHECK(comparison.result().first_wrong == "output 17: 0.25, reference 0.5");
}

TEST_CASE("NaN and infinity never pass", "[comparison]") {
  for (const double wrong : {kNan, kInfinity, -kInfinity}) {
    Comparison comparison;
    comparison.add(0, wrong, 0, 1);
    comparison.add(1, 0, 0, 1);
    CHECK_FALSE(comparison.result().passed);
    CHECK((std::isnan(wrong) ? std::isnan(comparison.result().worst_error)
                             : comparison.result().worst_error == kInfinity));
  }
}

TEST_CASE("poison that is left over fails even where no output was compared", "[comparison]") {
  Comparison comparison;
  comparison.add(0, 1, 1, 1);
  comparison.add_nonfinite(0, 0);
  CHECK(comparison.result().passed);
  comparison.add_nonfinite(3, 1);
  comparison.add(1, 5, 1, 1);
  CHECK_FALSE(comparison.result().passed);
  CHECK(std::isnan(comparison.result().worst_error));
  CHECK(comparison.result().first_wrong == "3 outputs are NaN");

  Comparison infinite;
  infinite.add(0, 1, 1, 1);
  infinite.add_nonfinite(0, 2);
  CHECK_FALSE(infinite.result().passed);
  CHECK(infinite.result().first_wrong == "2 outputs are infinite");
}

TEST_CASE("a check of nothing is no check", "[comparison]") {
  CHECK_FALSE(Comparison{}.result().passed);
  CHECK(Comparison{}.result().first_wrong == "nothing was compared");
}

}  // namespace
}  // namespace inferometer
