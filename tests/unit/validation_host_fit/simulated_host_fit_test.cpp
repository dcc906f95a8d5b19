// Host times that simulations were made with, found again from what they measured.

#include <string>
#include <vector>

#include "sim/validation/host_fit/host_fit.hpp"
#include "sim/validation/predict/predict_runs.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Catch::Matchers::WithinRel;

constexpr const char* kDeployment =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: chunked_prefill, max_num_seqs: 64}\n";
const std::vector<std::string> kTruth = {"cost_model.host_fixed=900 us", "cost_model.host_per_sequence=30 us",
                                         "cost_model.host_per_prefill_token=2 us",
                                         "cost_model.frontend_latency=6 ms"};

HostFitOptions options_of(std::vector<std::string> assignments) {
  HostFitOptions options;
  options.base = {read_yaml_text(kDeployment, "base.yaml"), "base.yaml", std::move(assignments)};
  options.interval_reruns = 0;
  return options;
}

/// In this process, one after the other.
Simulator simulator_here(const std::vector<MeasuredRun>& runs, const HostFitOptions& options) {
  return [&runs, &options](const std::vector<SimulatedQuestion>& questions) {
    const PredictionOptions how{options.base, 0, {}};
    Predictor predictor(runs, how);
    std::vector<Prediction> predictions;
    predictions.reserve(questions.size());
    for (const SimulatedQuestion& question : questions) {
      predictions.push_back(predictor.predict_run(question.run, question.assignments));
    }
    return predictions;
  };
}

std::vector<MeasuredRun> measured_with(const std::vector<std::string>& settings) {
  std::vector<MeasuredRun> runs;
  for (const auto& [clients, prompt] :
       {std::pair(1, 100), {2, 4000}, {8, 200}, {16, 1000}, {48, 300}, {32, 50}}) {
    MeasuredRun run;
    run.name = std::to_string(clients);
    run.source = "runs.csv:" + std::to_string(clients);
    run.settings = {"workload={generator: closed_loop, clients: " + std::to_string(clients) +
                    ", requests: " + std::to_string(4 * clients) +
                    ", prompt: {distribution: fixed, tokens: " + std::to_string(prompt) +
                    "}, output: {distribution: fixed, tokens: 40}}"};
    run.values = {{"mean_tpot_ms", 1}, {"mean_ttft_ms", 1}};
    runs.push_back(run);
  }
  const HostFitOptions options = options_of({});
  std::vector<SimulatedQuestion> questions;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    questions.push_back({i, settings, 0});
  }
  const std::vector<Prediction> predictions = simulator_here(runs, options)(questions);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    REQUIRE(predictions[i].failure.empty());
    for (std::size_t j = 0; j < runs[i].values.size(); ++j) {
      runs[i].values[j].value = predictions[i].values[j].value.value();
    }
  }
  return runs;
}

TEST_CASE("the host times behind simulated runs are found within 2 %, from elsewhere") {
  const std::vector<MeasuredRun> runs = measured_with(kTruth);
  for (const std::vector<std::string>& start :
       {std::vector<std::string>{},
        {"cost_model.host_fixed=3 ms", "cost_model.host_per_sequence=0 s",
         "cost_model.frontend_latency=20 ms"}}) {
    const HostFitOptions options = options_of(start);
    const HostFit fit = fit_host_times(runs, options, simulator_here(runs, options)).fits.front();
    CHECK(fit.fitted_runs == 6);
    CHECK_THAT(to_milliseconds(fit.times[0].value), WithinRel(0.9, 0.02));
    CHECK_THAT(to_milliseconds(fit.times[1].value), WithinRel(0.03, 0.02));
    CHECK_THAT(to_milliseconds(fit.times[2].value), WithinRel(0.002, 0.02));
    CHECK_THAT(to_milliseconds(fit.times[3].value), WithinRel(6, 0.02));
  }
}

TEST_CASE("a host that works while the GPU does is not determined") {
  // A step of llama-3-8b reads 16 GB, which takes more than 4 ms: half a millisecond of host is behind it.
  const std::vector<MeasuredRun> runs = measured_with({"cost_model.host_overlap=true"});
  HostFitOptions options = options_of({"cost_model.host_overlap=true"});
  options.fitted = host_parameters_named("host_fixed,host_per_sequence");
  const HostFit fit = fit_host_times(runs, options, simulator_here(runs, options)).fits.front();
  for (const HostTime& time : fit.times) {
    CHECK(!time.is_determined);
    CHECK(time.value == time.start);
  }
}

}  // namespace
}  // namespace inferometer
