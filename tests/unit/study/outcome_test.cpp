#include "sim/study/outcome.hpp"

#include <cmath>
#include <string>

#include "sim/metrics/time_split_parts.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// Doubles that lose bits on the way when they are written with too few digits.
const double kAwkward[] = {0.1,  1.0 / 3,       2.0 / 3 * 1e-300, 5e-324, 1.7976931348623157e308,
                           -0.0, 123456789.0625};

Outcome sample() {
  Outcome outcome;
  for (const double value : kAwkward) {
    outcome.metrics.push_back({"metric " + std::to_string(outcome.metrics.size()), value});
  }
  outcome.metrics.push_back({"without a value", std::nullopt});
  outcome.slo = {{"ttft_p99", 0.1, 500, true, -0.9998}, {"goodput", std::nullopt, 0.99, false, std::nullopt}};
  outcome.queue = QueueStability::unstable;
  outcome.queue_sentence = "\"it grows\": µs\n\t\\";
  outcome.offered_per_second = 1.0 / 3;
  outcome.time_split = {0.1, 0.2, 0.05, 0.15, 0.3, 0.125, 0.075};
  outcome.extrapolated_share = 1.0 / 7;
  outcome.curves = {{LatencyMetric::ttft, {0.1, 1.0 / 3}}, {LatencyMetric::e2el, {}}};
  return outcome;
}

TEST_CASE("an outcome comes back from its text bit by bit") {
  const Outcome before = sample();
  const Outcome after = outcome_from(to_text(before));
  CHECK(after.error.empty());
  REQUIRE(after.metrics.size() == before.metrics.size());
  for (std::size_t i = 0; i < before.metrics.size(); ++i) {
    CHECK(after.metrics[i].name == before.metrics[i].name);
    CHECK(after.metrics[i].value == before.metrics[i].value);
  }
  CHECK(std::signbit(*after.metrics[5].value));
  REQUIRE(after.slo.size() == 2);
  CHECK(after.slo[0].name == "ttft_p99");
  CHECK(after.slo[0].value == 0.1);
  CHECK(after.slo[0].limit == 500);
  CHECK(after.slo[0].met);
  CHECK(after.slo[0].over == -0.9998);
  CHECK(!after.slo[1].value);
  CHECK(!after.slo[1].met);
  CHECK(!after.slo[1].over);
  CHECK(after.queue == QueueStability::unstable);
  CHECK(after.queue_sentence == before.queue_sentence);
  CHECK(after.offered_per_second == before.offered_per_second);
  for (const auto part : kTimeSplitParts) {
    CHECK(after.time_split.*part == before.time_split.*part);
  }
  CHECK(after.extrapolated_share == before.extrapolated_share);
  REQUIRE(after.curves.size() == 2);
  CHECK(after.curves[0].metric == LatencyMetric::ttft);
  CHECK(after.curves[0].values_ms == before.curves[0].values_ms);
  CHECK(after.curves[1].metric == LatencyMetric::e2el);
  CHECK(after.curves[1].values_ms.empty());
  CHECK(to_text(after) == to_text(before));
}

TEST_CASE("every part of a time split is among its parts once") {
  TimeSplit split{1, 2, 4, 8, 16, 32, 64};  // a sum of powers tells which were added
  double sum = 0;
  for (const auto part : kTimeSplitParts) {
    sum += split.*part;
  }
  CHECK(sum == 127);
}

TEST_CASE("the error of a run comes back and nothing else does") {
  Outcome failed = sample();
  failed.error = "does not fit: 80 GB\n";
  const Outcome after = outcome_from(to_text(failed));
  CHECK(after.error == failed.error);
  CHECK(after.metrics.empty());
  CHECK(after.curves.empty());
  CHECK(outcome_from(to_text(failed_outcome("no\xff file"))).error == "no\xef\xbf\xbd file");
}

TEST_CASE("what is no outcome is refused") {
  CHECK_THROWS_AS(outcome_from("{"), std::exception);
  CHECK_THROWS_AS(outcome_from("{}"), std::exception);
  CHECK_THROWS_AS(outcome_from(to_text(sample()).substr(1)), std::exception);
}

TEST_CASE("curves are kept at shares that ascend from the least to the most") {
  const std::vector<double>& shares = curve_shares();
  CHECK(shares.front() == 0);
  CHECK(shares.back() == 1);
  for (std::size_t i = 1; i < shares.size(); ++i) {
    CHECK(shares[i - 1] < shares[i]);
  }
}

TEST_CASE("a metric is found by its name") {
  CHECK(sample().find("metric 0") == 0.1);
  CHECK(!sample().find("without a value"));
  CHECK(!sample().find("metric"));
}

}  // namespace
}  // namespace inferometer
