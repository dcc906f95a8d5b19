#include "sim/validation/predict/prediction_interval.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("without an engine's error the interval is the kernels'") {
  const auto range = prediction_interval(100, ValueRange{101, 109}, 0);
  REQUIRE(range);
  CHECK(range->low == 101);
  CHECK(range->high == 109);
  CHECK(!prediction_interval(100, std::nullopt, 0));
}

TEST_CASE("half-widths add as squares, around the middle of the kernels' interval") {
  // Half-widths 3 and 4 % of 100: 5 around 104.
  const auto range = prediction_interval(100, ValueRange{101, 107}, 0.04);
  REQUIRE(range);
  CHECK_THAT(range->low, WithinAbs(99, 1e-12));
  CHECK_THAT(range->high, WithinAbs(109, 1e-12));
}

TEST_CASE("the engine's error stands alone where kernels have none, and nothing is below zero") {
  const auto range = prediction_interval(50, std::nullopt, 0.1);
  REQUIRE(range);
  CHECK_THAT(range->low, WithinAbs(45, 1e-12));
  CHECK_THAT(range->high, WithinAbs(55, 1e-12));
  CHECK(prediction_interval(50, std::nullopt, 2)->low == 0);
  CHECK(prediction_interval(50, ValueRange{40, 60}, 2)->low == 0);
}

TEST_CASE("each kind of metric has its own engine error") {
  const EngineErrors errors{0.1, 0.2, 0.3, 0.4, 0.5};
  CHECK(errors.of(MetricKind::throughput) == 0.1);
  CHECK(errors.of(MetricKind::first_token) == 0.2);
  CHECK(errors.of(MetricKind::per_token) == 0.3);
  CHECK(errors.of(MetricKind::end_to_end) == 0.4);
  CHECK(errors.of(MetricKind::other) == 0.5);
}

}  // namespace
}  // namespace inferometer
