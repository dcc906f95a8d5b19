// What is made of predictions, worked by hand.

#include "sim/validation/predict/judge.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr double kTiny = 1e-12;

struct Sample {
  std::vector<MeasuredRun> runs;
  std::vector<Prediction> predictions;

  /// A run with these (metric, measured) and predicted values.
  Prediction& add(const std::string& group, const std::vector<MeasuredValue>& measured,
                  const std::vector<double>& predicted) {
    MeasuredRun run;
    run.name = "run " + std::to_string(runs.size());
    run.group = group;
    run.values = measured;
    Prediction prediction;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      prediction.values.push_back({measured[i].metric, predicted[i], std::nullopt});
    }
    runs.push_back(run);
    predictions.push_back(prediction);
    return predictions.back();
  }
};

TEST_CASE("errors are shares of what was measured, and are summed up by group and metric") {
  Sample sample;
  // Errors +10 %, -20 %, +30 %, -40 %: |error| has mean 25 %, median 25 %, p90 30 + 0.7 * 10 = 37 %, bias -5
  // %.
  for (const double predicted : {110.0, 80.0, 130.0, 60.0}) {
    sample.add("a", {{"mean_tpot_ms", 100}}, {predicted});
  }
  sample.add("b", {{"mean_tpot_ms", 50}}, {75});
  const Judgement judgement = judge(sample.runs, sample.predictions);
  REQUIRE(judgement.values.size() == 5);
  CHECK_THAT(judgement.values[1].error, Catch::Matchers::WithinAbs(-0.2, kTiny));
  REQUIRE(judgement.groups.size() == 2);
  const JudgedGroup& group = judgement.groups[0];
  CHECK(group.group == "a");
  CHECK(group.metric == "mean_tpot_ms");
  CHECK(group.count == 4);
  CHECK_THAT(group.median_error, Catch::Matchers::WithinAbs(0.25, kTiny));
  CHECK_THAT(group.mean_error, Catch::Matchers::WithinAbs(0.25, kTiny));
  CHECK_THAT(group.p90_error, Catch::Matchers::WithinAbs(0.37, kTiny));
  CHECK_THAT(group.bias, Catch::Matchers::WithinAbs(-0.05, kTiny));
  CHECK(!group.within_interval);
  CHECK(judgement.groups[1].group == "b");
  CHECK_THAT(judgement.groups[1].median_error, Catch::Matchers::WithinAbs(0.5, kTiny));
}

TEST_CASE("groups keep the order of the runs, metrics that of the headline, the lone TTFT last") {
  Sample sample;
  sample.add("z", {{kLoneTtft, 1}, {"mean_itl_ms", 1}, {"mean_ttft_ms", 1}, {"output_throughput", 1}},
             {1, 1, 1, 1});
  sample.add("a", {{"mean_itl_ms", 1}}, {1});
  std::vector<std::string> order;
  for (const JudgedGroup& group : judge(sample.runs, sample.predictions).groups) {
    order.push_back(group.group + " " + group.metric);
  }
  CHECK(order == std::vector<std::string>{"z output_throughput", "z mean_ttft_ms", "z mean_itl_ms",
                                          "z median_lone_ttft_ms", "a mean_itl_ms"});
}

TEST_CASE("the share within intervals counts their ends in, and wants one for each value") {
  Sample sample;
  // 10 is at the low end of the first, at the high end of the second, outside of the third and fourth.
  const std::vector<ValueRange> ranges = {{10, 12}, {8, 10}, {10.001, 12}, {8, 9.999}};
  for (const ValueRange& range : ranges) {
    sample.add("a", {{"mean_ttft_ms", 10}}, {10}).values[0].range = range;
  }
  CHECK(judge(sample.runs, sample.predictions).groups[0].within_interval == 0.5);
  sample.add("a", {{"mean_ttft_ms", 10}}, {10});
  CHECK(!judge(sample.runs, sample.predictions).groups[0].within_interval);
}

TEST_CASE("of saturated runs throughput alone counts, in rows of its own") {
  Sample sample;
  sample.add("a", {{"mean_ttft_ms", 100}, {"output_throughput", 100}}, {200, 90}).saturation = {
      1.2, true, "the queue grew"};
  sample.add("a", {{"mean_ttft_ms", 100}, {"output_throughput", 100}}, {110, 100}).saturation = {0.5, false,
                                                                                                 ""};
  const Judgement judgement = judge(sample.runs, sample.predictions);
  REQUIRE(judgement.values.size() == 4);
  CHECK(!judgement.values[0].is_counted);
  CHECK(judgement.values[1].is_counted);
  CHECK_THAT(judgement.values[0].error, Catch::Matchers::WithinAbs(1, kTiny));  // told all the same
  REQUIRE(judgement.groups.size() == 3);
  CHECK(judgement.groups[0].metric == "output_throughput");
  CHECK(!judgement.groups[0].is_saturated);
  CHECK(judgement.groups[1].metric == "mean_ttft_ms");
  CHECK_THAT(judgement.groups[1].median_error, Catch::Matchers::WithinAbs(0.1, kTiny));
  CHECK(judgement.groups[2].is_saturated);
  CHECK_THAT(judgement.groups[2].bias, Catch::Matchers::WithinAbs(-0.1, kTiny));
}

TEST_CASE("what has no prediction is listed with the reason, and counts nowhere") {
  Sample sample;
  sample.add("a", {{"mean_ttft_ms", 100}}, {100}).failure = "it does not fit";
  sample.add("a", {{"mean_tpot_ms", 10}, {"mean_tpott_ms", 10}}, {0, 0}).values = {
      {"mean_tpot_ms", std::nullopt, std::nullopt}, {"mean_tpott_ms", std::nullopt, std::nullopt}};
  const Judgement judgement = judge(sample.runs, sample.predictions);
  CHECK(judgement.values.empty());
  CHECK(judgement.groups.empty());
  REQUIRE(judgement.missing.size() == 3);
  CHECK(judgement.missing[0].metric.empty());
  CHECK(judgement.missing[0].reason == "it does not fit");
  CHECK(judgement.missing[1].reason == "the simulated run has no value of it");
  CHECK(judgement.missing[2].run == 1);
  CHECK(judgement.missing[2].reason ==
        "there is no metric \"mean_tpott_ms\"; did you mean \"mean_tpot_ms\"?");
}

TEST_CASE("metrics are of one kind each") {
  CHECK(kind_of("output_throughput") == MetricKind::throughput);
  CHECK(kind_of("request_goodput") == MetricKind::throughput);
  CHECK(kind_of("mean_ttft_ms") == MetricKind::first_token);
  CHECK(kind_of(kLoneTtft) == MetricKind::first_token);
  CHECK(kind_of("p99_itl_ms") == MetricKind::per_token);
  CHECK(kind_of("median_tpot_ms") == MetricKind::per_token);
  CHECK(kind_of("p90_e2el_ms") == MetricKind::end_to_end);
  CHECK(kind_of("joules_per_request") == MetricKind::other);
}

}  // namespace
}  // namespace inferometer
