#include "sim/validation/host_fit/host_fit.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinRel;

constexpr const char* kScenario =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
    "workload: {generator: constant, rate: 1 req/s, requests: 1, prompt: {distribution: fixed, tokens: 9}, "
    "output: {distribution: fixed, tokens: 9}}\n";

/// A run whose batch is `place % 16 + 1`, in a formula's place of a simulation.
struct Truth {
  double fixed_us = 1200, sequence_us = 20, frontend_us = 7000;
};

double batch_of(std::size_t place) {
  return static_cast<double>(place % 16 + 1);
}

double tpot_ms(std::size_t place, const Truth& truth) {
  return 7 + (truth.fixed_us + truth.sequence_us * batch_of(place)) / 1e3;
}

double ttft_ms(std::size_t place, const Truth& truth) {
  return 20 + (truth.frontend_us + truth.fixed_us) / 1e3 + batch_of(place);
}

/// The scenario's defaults, but for what is assigned.
Truth assumed(const std::vector<std::string>& assignments) {
  Truth truth{500, 5, 0};
  for (const std::string& each : assignments) {
    const double us = std::stod(each.substr(each.find('=') + 1)) / 1e6;
    truth.fixed_us = each.find("host_fixed") != std::string::npos ? us : truth.fixed_us;
    truth.sequence_us = each.find("host_per_sequence") != std::string::npos ? us : truth.sequence_us;
    truth.frontend_us = each.find("frontend_latency") != std::string::npos ? us : truth.frontend_us;
  }
  return truth;
}

std::vector<MeasuredRun> measured_runs(std::size_t count, const std::string& engine = "vllm") {
  std::vector<MeasuredRun> runs(count);
  for (std::size_t i = 0; i < count; ++i) {
    runs[i].name = "run " + std::to_string(i);
    runs[i].group = "made up";
    runs[i].source = "runs.csv:" + std::to_string(i + 2);
    runs[i].engine.name = engine;
    runs[i].values = {{"mean_tpot_ms", tpot_ms(i, {})}, {"mean_ttft_ms", ttft_ms(i, {})}};
  }
  return runs;
}

/// By the formula; the runs named are saturated.
Simulator formula(const std::vector<MeasuredRun>& runs, std::vector<std::size_t> saturated = {}) {
  return [&runs, saturated](const std::vector<SimulatedQuestion>& questions) {
    std::vector<Prediction> predictions;
    for (const SimulatedQuestion& question : questions) {
      Prediction prediction;
      const Truth truth = assumed(question.assignments);
      for (const MeasuredValue& value : runs[question.run].values) {
        const bool is_first = value.metric == "mean_ttft_ms";
        const double predicted = is_first ? ttft_ms(question.run, truth) : tpot_ms(question.run, truth);
        prediction.values.push_back({value.metric, predicted, {}});
        if (question.intervals > 0) {
          prediction.values.back().range = ValueRange{predicted - 1, predicted + 1};
        }
      }
      for (const std::size_t run : saturated) {
        prediction.saturation.is_saturated = prediction.saturation.is_saturated || run == question.run;
      }
      predictions.push_back(prediction);
    }
    return predictions;
  };
}

HostFitOptions options_of(const std::string& fitted = "host_fixed,host_per_sequence,frontend_latency") {
  HostFitOptions options;
  options.base = {read_yaml_text(kScenario, "base.yaml"), "base.yaml", {}};
  options.fitted = host_parameters_named(fitted);
  return options;
}

double in_us(Duration duration) {
  return 1e3 * to_milliseconds(duration);
}

TEST_CASE("known host times are found") {
  const std::vector<MeasuredRun> runs = measured_runs(32);
  const HostFitResult result = fit_host_times(runs, options_of(), formula(runs));
  REQUIRE(result.fits.size() == 1);
  const HostFit& fit = result.fits.front();
  CHECK(fit.engine == "vllm");
  CHECK(fit.sources == std::vector<std::string>{"runs.csv"});
  CHECK(fit.fitted_runs == 32);
  CHECK_THAT(in_us(fit.times[0].value), WithinRel(1200, 0.02));
  CHECK_THAT(in_us(fit.times[1].value), WithinRel(20, 0.02));
  CHECK_THAT(in_us(fit.times[2].value), WithinRel(7000, 0.02));
  CHECK(fit.times[0].start == microseconds(500));
  CHECK(fit.unexplained.empty());
  // Before: a batch of n predicts 7.5 + 0.005 n of 8.2 + 0.02 n.
  REQUIRE(fit.fitted.size() == 2);
  double bias = 0;
  for (int n = 1; n <= 16; ++n) {
    bias += ((7.5 + 0.005 * n) / (8.2 + 0.02 * n) - 1) / 16;
  }
  CHECK_THAT(fit.fitted[0].bias_before, WithinRel(bias, 1e-9));
  CHECK_THAT(fit.fitted[0].mean_before, WithinRel(-bias, 1e-9));
  CHECK(fit.fitted[0].mean_after < 0.002);
}

TEST_CASE("a run in ten that was measured three times too slow hardly matters, and is named") {
  std::vector<MeasuredRun> runs = measured_runs(40);
  for (std::size_t i = 3; i < runs.size(); i += 10) {
    runs[i].values[0].value *= 3;
    runs[i].values[1].value *= 3;
  }
  const HostFit fit = fit_host_times(runs, options_of(), formula(runs)).fits.front();
  CHECK_THAT(in_us(fit.times[0].value), WithinRel(1200, 0.1));
  CHECK_THAT(in_us(fit.times[1].value), WithinRel(20, 0.1));
  CHECK_THAT(in_us(fit.times[2].value), WithinRel(7000, 0.1));
  REQUIRE(fit.unexplained.size() == 8);
  for (const UnexplainedValue& value : fit.unexplained) {
    CHECK(value.run % 10 == 3);
    CHECK_THAT(value.predicted / value.measured, WithinRel(1.0 / 3, 0.02));
    REQUIRE(value.range);
    CHECK(value.range->low == value.predicted - 1);
  }
}

TEST_CASE("what one cannot tell stays as it was") {
  // The formula knows no host_per_prefill_token.
  const std::vector<MeasuredRun> runs = measured_runs(16);
  const HostFit fit =
      fit_host_times(runs, options_of("host_fixed,host_per_prefill_token"), formula(runs)).fits.front();
  CHECK(fit.times[0].is_determined);
  CHECK(fit.times[0].low);
  CHECK(!fit.times[1].is_determined);
  CHECK(fit.times[1].value == Duration());
  CHECK(!fit.times[1].low);
}

TEST_CASE("every third run is fitted and the others judge") {
  const std::vector<MeasuredRun> runs = measured_runs(31);
  HostFitOptions options = options_of();
  options.every = 3;
  const HostFit fit = fit_host_times(runs, options, formula(runs)).fits.front();
  CHECK(fit.fitted_runs == 11);
  CHECK(fit.unseen_runs == 20);
  REQUIRE(fit.unseen.size() == 2);
  CHECK(fit.unseen[0].count == 20);
  CHECK(fit.unseen[0].median_after < 0.002);
  CHECK(fit.unseen[0].median_before > 0.05);
}

TEST_CASE("saturated runs and figures that say the same twice are left out") {
  std::vector<MeasuredRun> runs = measured_runs(12);
  for (MeasuredRun& run : runs) {
    run.values.push_back({"mean_itl_ms", 100});  // beside mean_tpot_ms
  }
  runs[4].values[0].value = 500;
  const HostFit fit = fit_host_times(runs, options_of(), formula(runs, {4})).fits.front();
  CHECK(fit.saturated_runs == 1);
  CHECK(fit.fitted_runs == 11);
  CHECK(fit.fitted.size() == 2);
  CHECK(fit.unexplained.empty());
  CHECK_THAT(in_us(fit.times[0].value), WithinRel(1200, 0.02));
}

TEST_CASE("few runs have no intervals") {
  const std::vector<MeasuredRun> four = measured_runs(4), five = measured_runs(5);
  CHECK(!fit_host_times(four, options_of("host_fixed"), formula(four)).fits.front().times[0].low);
  CHECK(fit_host_times(five, options_of("host_fixed"), formula(five)).fits.front().times[0].low);
}

TEST_CASE("engines are fitted each by itself") {
  std::vector<MeasuredRun> runs = measured_runs(20);
  for (std::size_t i = 1; i < runs.size(); i += 2) {
    runs[i].engine.name = "sglang";
    runs[i].values[0].value = tpot_ms(i, {3000, 20, 7000});
    runs[i].values[1].value = ttft_ms(i, {3000, 20, 7000});
  }
  const HostFitResult result = fit_host_times(runs, options_of(), formula(runs));
  REQUIRE(result.fits.size() == 2);
  CHECK(result.fits[1].engine == "sglang");
  CHECK_THAT(in_us(result.fits[0].times[0].value), WithinRel(1200, 0.02));
  CHECK_THAT(in_us(result.fits[1].times[0].value), WithinRel(3000, 0.02));
}

TEST_CASE("without latencies, or away from saturation, there is nothing to fit") {
  std::vector<MeasuredRun> runs = measured_runs(2);
  CHECK_THROWS_AS(fit_host_times(runs, options_of(), formula(runs, {0, 1})), ConfigError);
  for (MeasuredRun& run : runs) {
    run.values = {{"output_throughput", 900}};
  }
  std::string message;
  try {
    fit_host_times(runs, options_of(), formula(runs));
  } catch (const ConfigError& mistake) {
    message = mistake.what();
  }
  CHECK(message.find("runs.csv: no run has a latency") == 0);
  CHECK(message.find("found output_throughput") != std::string::npos);
}

}  // namespace
}  // namespace inferometer
