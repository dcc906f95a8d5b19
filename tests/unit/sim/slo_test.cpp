#include "sim/metrics/slo.hpp"

#include "sim/metrics/summary.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

SloTargets read(const std::string& yaml) {
  Diagnostics diagnostics;
  const Values values = parse(slo_table(), read_yaml_text(yaml, "slo.yaml"), diagnostics);
  diagnostics.throw_if_any();
  SloTargets targets = read_slo(values, diagnostics);
  diagnostics.throw_if_any();
  return targets;
}

TEST_CASE("targets come in the order of the table, whatever the order of the file") {
  const SloTargets targets = read("{itl_p99: 50 ms, ttft_mean: 0.2 s, ttft_p99: 500 ms}");
  REQUIRE(targets.targets.size() == 3);
  CHECK(targets.targets[0].metric == LatencyMetric::ttft);
  CHECK(targets.targets[0].statistic == LatencyStatistic::p99);
  CHECK(targets.targets[0].limit == milliseconds(500));
  CHECK(targets.targets[1].statistic == LatencyStatistic::mean);
  CHECK(targets.targets[1].limit == milliseconds(200));
  CHECK(targets.targets[2].metric == LatencyMetric::itl);
  CHECK_FALSE(targets.goodput_min);
}

TEST_CASE("a request's limit is its own, else that of the highest percentile, never that of the mean") {
  const SloTargets targets =
      read("{ttft: 1 s, ttft_p99: 500 ms, tpot_p50: 30 ms, tpot_p95: 60 ms, e2el_mean: 9 s, itl_p99: 50 ms}");
  CHECK(targets.request.ttft == seconds(1));
  CHECK(targets.request.tpot == milliseconds(60));
  CHECK_FALSE(targets.request.e2el);
}

TEST_CASE("no section, no targets") {
  const SloTargets targets = read("{}");
  CHECK(targets.targets.empty());
  CHECK_FALSE(targets.request.any());
  CHECK(evaluate(targets, Summary()).all_met());
}

TEST_CASE("goodput_min without anything to miss is a mistake") {
  REQUIRE_THROWS_WITH(
      read("{itl_p99: 50 ms, goodput_min: 0.9}"),
      "slo.yaml:1:31: goodput_min needs something that a request could miss: give ttft, tpot or "
      "e2el (or a percentile of one of them), e.g. \"ttft: 500 ms\"");
  CHECK(read("{ttft_p90: 1 s, goodput_min: 0.9}").goodput_min == 0.9);
}

TEST_CASE("bare numbers, unknown keys and shares above one are refused") {
  CHECK_THROWS_AS(read("{ttft_p99: 500}"), ConfigError);
  CHECK_THROWS_AS(read("{ttft_p98: 500 ms}"), ConfigError);
  CHECK_THROWS_AS(read("{ttft: 1 s, goodput_min: 1.5}"), ConfigError);
}

TEST_CASE("a target is met up to its limit, and the distance is a share of it") {
  Summary summary;
  DurationStatistics statistics;
  statistics.count = 10;
  statistics.mean_ms = 100;
  statistics.p50_ms = 90;
  statistics.p90_ms = 250;
  statistics.p95_ms = 400;
  statistics.p99_ms = 500;
  summary.ttft = statistics;
  summary.goodput_share = 0.75;
  const SloReport report = evaluate(
      read("{ttft_p99: 500 ms, ttft_p95: 320 ms, ttft_p50: 100 ms, ttft_p90: 1 s, ttft_mean: 125 ms, "
           "tpot_p99: 50 ms, goodput_min: 0.9}"),
      summary);
  REQUIRE(report.verdicts.size() == 7);
  CHECK(report.verdicts[0].name == "ttft_p99");
  CHECK(report.verdicts[0].met);
  CHECK(*report.verdicts[0].over == 0);
  CHECK(report.verdicts[1].name == "ttft_p95");
  CHECK_FALSE(report.verdicts[1].met);
  CHECK(*report.verdicts[1].over == Approx(0.25));
  CHECK(*report.verdicts[2].over == Approx(-0.75));  // p90: 250 of 1000 ms
  CHECK(*report.verdicts[3].value == 90);
  CHECK(*report.verdicts[4].value == 100);
  CHECK(report.verdicts[5].name == "tpot_p99");
  CHECK_FALSE(report.verdicts[5].value);
  CHECK_FALSE(report.verdicts[5].met);
  CHECK(report.verdicts[6].name == "goodput");
  CHECK(report.verdicts[6].unit() == "share");
  CHECK_FALSE(report.verdicts[6].met);
  CHECK_FALSE(report.all_met());
}

TEST_CASE("the names of definitions lead to them and back") {
  CHECK(metric_definitions("vllm") == MetricDefinitions::vllm);
  CHECK(metric_definitions("aiperf") == MetricDefinitions::aiperf);
  CHECK(metric_definitions("mlperf") == MetricDefinitions::mlperf);
  CHECK(to_string(MetricDefinitions::mlperf) == "mlperf");
}

}  // namespace
}  // namespace inferometer
