#include "sim/validation/predict/prediction_interval.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("without an engine's error the interval is the kernels'") {
  const auto range = prediction_interval(100, ValueRange{101, 109}, {});
  REQUIRE(range);
  CHECK(range->low == 101);
  CHECK(range->high == 109);
  CHECK(!prediction_interval(100, std::nullopt, {}));
}

TEST_CASE("distances to the ends add as squares, on each side by itself") {
  // 3 and 4 below: 5; 5 and 12 above: 13.
  const auto range = prediction_interval(100, ValueRange{97, 105}, {0.04, 0.12});
  REQUIRE(range);
  CHECK_THAT(range->low, WithinAbs(95, 1e-12));
  CHECK_THAT(range->high, WithinAbs(113, 1e-12));
  // A prediction outside of the kernels' interval: nothing of theirs on that side.
  CHECK_THAT(prediction_interval(100, ValueRange{101, 105}, {0.04, 0.12})->low, WithinAbs(96, 1e-12));
}

TEST_CASE("the engine's error stands alone where kernels have none, and nothing is below zero") {
  const auto range = prediction_interval(50, std::nullopt, {0.1, 0.2});
  REQUIRE(range);
  CHECK_THAT(range->low, WithinAbs(45, 1e-12));
  CHECK_THAT(range->high, WithinAbs(60, 1e-12));
  CHECK(prediction_interval(50, std::nullopt, {2, 0})->low == 0);
  CHECK(prediction_interval(50, ValueRange{40, 60}, {2, 2})->low == 0);
}

TEST_CASE("each kind of metric has its own engine error") {
  const EngineErrors errors{{0.1, 1}, {0.2, 1}, {0.3, 1}, {0.4, 1}, {0.5, 1}};
  CHECK(errors.of(MetricKind::throughput).below == 0.1);
  CHECK(errors.of(MetricKind::first_token).below == 0.2);
  CHECK(errors.of(MetricKind::per_token).below == 0.3);
  CHECK(errors.of(MetricKind::end_to_end).below == 0.4);
  CHECK(errors.of(MetricKind::other).below == 0.5);
}

}  // namespace
}  // namespace inferometer
