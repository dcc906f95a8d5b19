#include <algorithm>
#include <string>
#include <vector>

#include "sim/metrics/headline_metrics.hpp"
#include "sim/validation/predict/predict_runs.hpp"
#include "sim/validation/predict/prediction_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer {
namespace {

constexpr const char* kDeployment =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: chunked_prefill, max_num_seqs: 8}\n";

MeasuredRun run_of(std::vector<std::string> settings, std::vector<MeasuredValue> values) {
  MeasuredRun run;
  run.name = "made up";
  run.group = "made up";
  run.source = "runs.csv:2";
  run.settings = std::move(settings);
  run.values = std::move(values);
  return run;
}

std::vector<std::string> traffic(const std::string& arrivals, int requests, int prompt = 200,
                                 int output = 50) {
  return {"workload={" + arrivals + ", requests: " + std::to_string(requests) +
          ", prompt: {distribution: fixed, tokens: " + std::to_string(prompt) +
          "}, output: {distribution: fixed, tokens: " + std::to_string(output) + "}}"};
}

PredictionOptions options_of(std::int64_t intervals = 0) {
  PredictionOptions options;
  options.base = {read_yaml_text(kDeployment, "base.yaml"), "base.yaml", {}};
  options.intervals = intervals;
  return options;
}

Prediction predicted(const MeasuredRun& run, const PredictionOptions& options = options_of()) {
  const std::vector<MeasuredRun> runs = {run};
  return Predictor(runs, options).predict_run(0);
}

double metric_of(const Summary& summary, const std::string& name) {
  for (const HeadlineMetric& metric : headline_metrics(summary)) {
    if (metric.name == name) {
      return metric.value.value();
    }
  }
  return -1;
}

TEST_CASE("a run is predicted as `run` has its scenario") {
  const std::vector<std::string> settings = traffic("generator: poisson, rate: 5 req/s", 200);
  const testing::ScenarioRun ran = testing::run_scenario(kDeployment, settings);
  const Prediction prediction =
      predicted(run_of(settings, {{"mean_ttft_ms", 1}, {"p99_itl_ms", 1}, {"output_throughput", 1}}));
  REQUIRE(prediction.failure.empty());
  REQUIRE(prediction.values.size() == 3);
  for (const PredictedValue& value : prediction.values) {
    CHECK(value.value == metric_of(ran.summary, value.metric));
    CHECK(!value.range);
  }
  CHECK(prediction.saturation.load == ran.summary.stability.load);
}

TEST_CASE("recorded requests are predicted as the trace that has them") {
  // 20 requests a second apart, which is what `constant` makes.
  const testing::ScenarioRun ran =
      testing::run_scenario(kDeployment, traffic("generator: constant, rate: 1 req/s", 20));
  MeasuredRun run = run_of({}, {{"mean_e2el_ms", 1}, {kLoneTtft, 1}});
  for (int i = 0; i < 20; ++i) {
    run.requests.push_back({static_cast<double>(i), 200, 50, {}, {}, {}});
  }
  const Prediction prediction = predicted(run);
  REQUIRE(prediction.failure.empty());
  CHECK(prediction.values[0].value == metric_of(ran.summary, "mean_e2el_ms"));
  // An answer takes half a second: each request is alone, and all are alike.
  CHECK_THAT(prediction.values[1].value.value(),
             Catch::Matchers::WithinAbs(metric_of(ran.summary, "median_ttft_ms"), 1e-6));
}

TEST_CASE("intervals are those of the kernels, and that of the lone TTFT is as wide as the median's") {
  const std::vector<std::string> settings = traffic("generator: constant, rate: 1 req/s", 10);
  const Prediction prediction = predicted(
      run_of(settings, {{"median_ttft_ms", 1}, {kLoneTtft, 1}, {"request_throughput", 1}}), options_of(8));
  REQUIRE(prediction.failure.empty());
  const PredictedValue& median = prediction.values[0];
  const PredictedValue& lone = prediction.values[1];
  REQUIRE(median.range);
  REQUIRE(lone.range);
  CHECK(median.range->low < median.range->high);
  CHECK_THAT(lone.range->low / *lone.value,
             Catch::Matchers::WithinAbs(median.range->low / *median.value, 1e-12));
  CHECK_THAT(lone.range->high / *lone.value,
             Catch::Matchers::WithinAbs(median.range->high / *median.value, 1e-12));
}

TEST_CASE("more clients than sequences saturate a closed loop, as many do not") {
  const Prediction eight = predicted(run_of(traffic("generator: closed_loop, clients: 8", 40), {}));
  CHECK(eight.saturation.load == 1.0);
  CHECK(!eight.saturation.is_saturated);
  const Prediction nine = predicted(run_of(traffic("generator: closed_loop, clients: 9", 40), {}));
  CHECK(nine.saturation.load == 9.0 / 8);
  CHECK(nine.saturation.is_saturated);
  CHECK(nine.saturation.why == "more clients than sequences that run at once");
}

TEST_CASE("more clients than the KV cache holds saturate a closed loop") {
  // 100 blocks of 16 tokens, of which vLLM keeps one for itself; on average a sequence has 200 + 50 / 2
  // tokens: 7.04 fit, 8 do not.
  const auto with = [](int clients, std::int64_t blocks) {
    std::vector<std::string> settings =
        traffic("generator: closed_loop, clients: " + std::to_string(clients), 40);
    settings.push_back("engine.num_gpu_blocks=" + std::to_string(blocks));
    settings.emplace_back("engine.max_model_len=512");
    return predicted(run_of(settings, {}));
  };
  const Prediction eight = with(8, 100);
  REQUIRE(eight.failure.empty());
  CHECK(eight.saturation.is_saturated);
  CHECK_THAT(eight.saturation.load.value(), Catch::Matchers::WithinAbs(8 * 225 / (99 * 16.0), 1e-9));
  CHECK(!with(8, 1000).saturation.is_saturated);
  CHECK(!with(4, 100).saturation.is_saturated);
}

TEST_CASE("requests that come at once saturate, generated or recorded") {
  const Prediction made = predicted(run_of(traffic("generator: all_at_once", 20), {}));
  REQUIRE(made.failure.empty());
  CHECK(made.saturation.is_saturated);
  CHECK(made.saturation.load == 1.0);
  MeasuredRun run = run_of({}, {});
  run.requests = {{0, 10, 5, {}, {}, {}}, {0, 10, 5, {}, {}, {}}};
  CHECK(predicted(run).saturation.is_saturated);
}

TEST_CASE("a rate saturates at the capacity, and not below") {
  // The offered rate over the load is the capacity, whatever it is: 80 % and 120 % of it.
  const auto at = [](double rate) {
    return predicted(
               run_of(traffic("generator: constant, rate: " + std::to_string(rate) + " req/s", 400), {}))
        .saturation;
  };
  const double capacity = 5 / at(5).load.value();
  CHECK(!at(0.8 * capacity).is_saturated);
  CHECK(at(1.2 * capacity).is_saturated);
}

TEST_CASE("what cannot be run is a failure with its reason, and the others are predicted") {
  std::vector<std::string> settings = traffic("generator: all_at_once", 3);
  std::vector<std::string> unknown = settings;
  unknown.emplace_back("model=llama-3-9b");
  const std::vector<MeasuredRun> runs = {run_of(unknown, {}), run_of(settings, {{"request_throughput", 1}})};
  for (const int jobs : {1, 2}) {
    const auto predictions = predict_runs(runs, options_of(), jobs, [](std::int64_t) { return true; });
    REQUIRE(predictions);
    check_says((*predictions)[0].failure, {"llama-3-9b"});
    CHECK((*predictions)[0].settings == unknown);
    CHECK((*predictions)[1].failure.empty());
    CHECK((*predictions)[1].values[0].value == predicted(runs[1]).values[0].value);
  }
  CHECK(!predict_runs(runs, options_of(), 1, [](std::int64_t) { return false; }));
}

TEST_CASE("runs of one deployment after another are predicted as if alone") {
  std::vector<std::string> other = traffic("generator: all_at_once", 30);
  other.emplace_back("engine.max_num_seqs=4");
  const std::vector<MeasuredRun> runs = {
      run_of(traffic("generator: all_at_once", 30), {{"request_throughput", 1}}),
      run_of(traffic("generator: all_at_once", 20), {{"request_throughput", 1}}),
      run_of(other, {{"request_throughput", 1}})};
  const PredictionOptions options = options_of();
  Predictor predictor(runs, options);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(predictor.predict_run(i).values[0].value == predicted(runs[i]).values[0].value);
  }
}

TEST_CASE("a prediction comes back from its text bit by bit") {
  Prediction before;
  before.failure = "\"no\" µ\n";
  before.values = {{"a", 1.0 / 3, ValueRange{0.1, 1e-300}}, {"b", std::nullopt, std::nullopt}};
  before.saturation = {2.0 / 3, true, "why"};
  before.settings = {"x=1"};
  before.notes = {"n", "m"};
  const Prediction after = prediction_from(to_text(before));
  CHECK(after.failure == before.failure);
  REQUIRE(after.values.size() == 2);
  CHECK(after.values[0].metric == "a");
  CHECK(after.values[0].value == 1.0 / 3);
  CHECK(after.values[0].range->low == 0.1);
  CHECK(after.values[0].range->high == 1e-300);
  CHECK(!after.values[1].value);
  CHECK(!after.values[1].range);
  CHECK(after.saturation.load == 2.0 / 3);
  CHECK(after.saturation.is_saturated);
  CHECK(after.saturation.why == "why");
  CHECK(after.settings == before.settings);
  CHECK(after.notes == before.notes);
}

}  // namespace
}  // namespace inferometer
