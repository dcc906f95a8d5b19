#include "sim/scenario/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/cost_options.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/pipeline.hpp"
#include "hardware/profile.hpp"
#include "sim/metrics/headline_metrics.hpp"
#include "sim/scenario/run_summary.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Quantiles = decltype(RegionError::log_ratio);

/// A kernel without a correction: 3 us and half of the peak, or four fifths of the bandwidth.
KernelFit plain_fit(KernelFamily family, const Quantiles& log_ratio) {
  RegionError error;
  error.log_ratio = log_ratio;  // of the only region, which holds for all
  KernelFit fit;
  fit.family = family;
  fit.variant = "bf16";
  fit.roofline = {3e-6, 0, 0.5, 0.8, 1};
  fit.range.assign(kMostAxes, {0, 1e9});
  fit.regions = {error};
  return fit;
}

KernelProfile plain_kernels(const Quantiles& log_ratio) {
  return {"h100-sxm",
          "by hand",
          "2026-01-01",
          {},
          {plain_fit(KernelFamily::gemm, log_ratio), plain_fit(KernelFamily::prefill_attention, log_ratio),
           plain_fit(KernelFamily::decode_attention, log_ratio)}};
}

Quantiles all(double log_ratio) {
  Quantiles quantiles;
  quantiles.fill(log_ratio);
  return quantiles;
}

/// A scenario priced by kernels of ours.
class PricedScenario {
 public:
  PricedScenario(const std::string& workload, const Quantiles& errors)
      : scenario_(load_scenario_text(
            "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nslo: {ttft: 60 ms}\nworkload: " + workload + "\n",
            "a.yaml")),
        kernels_(plain_kernels(errors)),
        deployment_(make_deployment(scenario_)) {
    deployment_.front().pricers = {pricer(std::nullopt)};
    MetricsRecorder recorder = make_recorder(scenario_);
    Simulation simulation = make_simulation(scenario_, deployment_, recorder);
    simulation.run();
    sample_ = capacity_sample(deployment_, recorder);
    metrics_ = headline_metrics(summarize_run(scenario_, deployment_, simulation, recorder, sample_, false));
  }

  [[nodiscard]] std::shared_ptr<const StepPricer> pricer(std::optional<std::uint64_t> run) const {
    CostOptions options = cost_options_from(scenario_.values.section("cost_model"));
    options.resample = run;
    return make_calibrated_pricer(scenario_.model, scenario_.gpu, kernels_, load_profile("h100-sxm"),
                                  in_one_node(1), options, deployment_.front().pricer_limits);
  }

  [[nodiscard]] Uncertainty uncertainty(std::int64_t runs, int threads = 2) const {
    return *estimate_uncertainty(scenario_, deployment_,
                                 [this](std::size_t, std::uint64_t run) { return StagePricers{pricer(run)}; },
                                 {runs, threads, sample_, {}});
  }

  /// Of the run itself.
  [[nodiscard]] const std::vector<HeadlineMetric>& metrics() const { return metrics_; }

  /// Time of the kernels of ours in a step without the host: launch and the higher roof of each.
  [[nodiscard]] double kernel_seconds(const StepShape& shape) const {
    double seconds = 0;
    for (const Operator& part : step_operators(scenario_.model, 1, shape)) {
      if (part.family == OperatorFamily::gemm || part.family == OperatorFamily::prefill_attention ||
          part.family == OperatorFamily::decode_attention) {
        const double compute =
            static_cast<double>(part.flops.count()) / (0.5 * scenario_.gpu.bf16_peak.count());
        const double bandwidth =
            static_cast<double>(part.hbm_bytes.count()) / (0.8 * scenario_.gpu.hbm_bandwidth.count());
        seconds += static_cast<double>(part.repeats) * (3e-6 + std::max(compute, bandwidth));
      }
    }
    return seconds;
  }

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Deployment& deployment() const { return deployment_; }

 private:
  Scenario scenario_;
  KernelProfile kernels_;
  Deployment deployment_;
  std::vector<RequestLengths> sample_;
  std::vector<HeadlineMetric> metrics_;
};

const std::string kChat = "{preset: azure-conversation, rate: 12 req/s, requests: 600}";

std::optional<double> value_of(const std::vector<HeadlineMetric>& metrics, const std::string& name) {
  return std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.name == name; })
      ->value;
}

TEST_CASE("without errors every interval is the metric itself") {
  const PricedScenario priced(kChat, all(0));
  const Uncertainty uncertainty = priced.uncertainty(8);
  std::size_t met = 0;
  for (const HeadlineMetric& metric : priced.metrics()) {
    CAPTURE(metric.name);
    const MetricInterval* interval = uncertainty.find(metric.name);
    REQUIRE((interval != nullptr) == metric.value.has_value());
    if (interval != nullptr) {
      CHECK(interval->low == *metric.value);
      CHECK(interval->high == *metric.value);
      ++met;
    }
  }
  CHECK(met == uncertainty.intervals.size());
  for (const char* name : {"request_throughput", "request_goodput", "p99_ttft_ms", "median_itl_ms",
                           "capacity_requests_per_s", "energy_joules", "total_dollars_per_million_tokens"}) {
    CAPTURE(name);
    CHECK(uncertainty.find(name) != nullptr);
  }
  CHECK(uncertainty.find("mean_icl_ms") == nullptr);  // AIPerf's
  CHECK(uncertainty.runs == 8);
  CHECK(uncertainty.replayed_requests == 8 * 600);
}

// One request alone: a step prefills 512 tokens, another decodes with 513 in its context. Of both, a tenth of
// what our kernels take comes on top; the elementwise kernels and the host stay.
TEST_CASE("kernels that are all a tenth slower make the latencies of a request alone that much longer") {
  const std::string one =
      "{generator: constant, rate: 1 req/s, requests: 1, prompt: {distribution: fixed, tokens: 512}, "
      "output: {distribution: fixed, tokens: 2}}";
  const PricedScenario priced(one, all(std::log(1.1)));
  const Uncertainty uncertainty = priced.uncertainty(8);
  const std::vector<ChunkShape> prompt = {{512, 0}};
  const double prefill_ms = 1e3 * priced.kernel_seconds({0, 0, 1, prompt});
  const double decode_ms = 1e3 * priced.kernel_seconds({1, 513, 1, {}});
  const std::vector<HeadlineMetric> metrics = priced.metrics();
  for (const auto& [name, more_ms] :
       {std::pair("mean_ttft_ms", 0.1 * prefill_ms), std::pair("p99_ttft_ms", 0.1 * prefill_ms),
        std::pair("median_itl_ms", 0.1 * decode_ms), std::pair("p95_tpot_ms", 0.1 * decode_ms),
        std::pair("mean_e2el_ms", 0.1 * (prefill_ms + decode_ms))}) {
    CAPTURE(name, *value_of(metrics, name), more_ms);
    const MetricInterval* interval = uncertainty.find(name);
    REQUIRE(interval != nullptr);
    CHECK(interval->low - *value_of(metrics, name) == Approx(more_ms).epsilon(1e-4));
    CHECK(interval->high == interval->low);
  }
  CHECK(uncertainty.find("capacity_requests_per_s") == nullptr);  // too few requests to tell
  CHECK(uncertainty.simulated_steps == 8 * 2);
}

// As much above as below: the run itself is a draw like any other, and near their middle.
TEST_CASE("symmetric errors leave the metric within its interval") {
  Quantiles errors;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i] = std::log(1.1) * (static_cast<double>(i) - 10) / 10;
  }
  const PricedScenario priced(kChat, errors);
  const Uncertainty uncertainty = priced.uncertainty(32);
  const std::vector<HeadlineMetric> metrics = priced.metrics();
  for (const char* name : {"mean_ttft_ms", "p99_ttft_ms", "mean_itl_ms", "mean_tpot_ms", "mean_e2el_ms",
                           "capacity_requests_per_s", "output_throughput", "joules_per_output_token"}) {
    CAPTURE(name);
    const MetricInterval* interval = uncertainty.find(name);
    CHECK(interval->low < *value_of(metrics, name));
    CHECK(interval->high > *value_of(metrics, name));
  }
  // Steps get a tenth longer at most; decoding steps alone set the median gap between tokens.
  CHECK(uncertainty.find("median_itl_ms")->high < 1.1 * *value_of(metrics, "median_itl_ms"));
  CHECK(uncertainty.find("median_itl_ms")->low > *value_of(metrics, "median_itl_ms") / 1.1);
}

TEST_CASE("intervals of shipped kernels are the same with one thread and with four") {
  const Scenario scenario = load_scenario_text(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nworkload: " + kChat + "\nuncertainty: {runs: 9}\n",
      "a.yaml");
  const Deployment deployment = make_deployment(scenario);
  const ResampledPricers pricers = resampled_pricers(deployment);
  const Uncertainty one = *estimate_uncertainty(scenario, deployment, pricers, {9, 1, {}, {}});
  const Uncertainty four = *estimate_uncertainty(scenario, deployment, pricers, {9, 4, {}, {}});
  CHECK(scenario.uncertainty_runs() == 9);
  CHECK(one.simulated_steps == four.simulated_steps);
  REQUIRE(one.intervals.size() == four.intervals.size());
  for (std::size_t i = 0; i < one.intervals.size(); ++i) {
    CHECK(one.intervals[i].metric == four.intervals[i].metric);
    CHECK(one.intervals[i].low == four.intervals[i].low);
    CHECK(one.intervals[i].high == four.intervals[i].high);
  }
  CHECK(one.find("mean_itl_ms")->low < one.find("mean_itl_ms")->high);
}

// One request: its first token comes out of its prefill, the second out of a step on the other pool. Twice as
// slow are the prices of the pool for prompts alone.
TEST_CASE("each pool is drawn anew, and one that is not keeps its prices") {
  const Scenario scenario = load_scenario_text(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: disaggregated, system: distserve}\n"
      "cluster: {pools: {prefill: {}, decode: {}}, network: {model: none}}\n"
      "workload: {generator: constant, rate: 1 req/s, requests: 1, prompt: {distribution: fixed, tokens: "
      "512}, "
      "output: {distribution: fixed, tokens: 2}}\n",
      "a.yaml");
  const Deployment deployment = make_deployment(scenario);
  CHECK(has_measured_kernels(deployment));
  Parallelism slow = in_one_node(1);
  slow.straggler = 2;
  const auto pricers = [&](std::size_t pool, std::uint64_t) {
    return pool == 0 ? make_stage_pricers(scenario.model, scenario.gpu, slow,
                                          cost_options_from(scenario.values.section("cost_model")),
                                          deployment.front().pricer_limits)
                     : StagePricers();
  };
  const Uncertainty uncertainty = *estimate_uncertainty(scenario, deployment, pricers, {8, 2, {}, {}});
  const std::vector<ChunkShape> prompt = {{512, 0}};
  const StepShape decode{1, 513, 1, {}};
  const double first_ms = to_milliseconds(pricers(0, 1).front()->price({0, 0, 1, prompt}).total());
  const double second_ms = to_milliseconds(deployment.pools[1].pricers.front()->price(decode).total());
  CHECK(first_ms >
        1.5 * to_milliseconds(deployment.front().pricers.front()->price({0, 0, 1, prompt}).total()));
  REQUIRE(uncertainty.find("mean_ttft_ms") != nullptr);
  CHECK(uncertainty.find("mean_ttft_ms")->low == Approx(first_ms));
  CHECK(uncertainty.find("mean_itl_ms")->high == Approx(second_ms));
}

TEST_CASE("runs that are stopped leave no interval") {
  const PricedScenario priced("{preset: azure-conversation, rate: 12 req/s, requests: 20000}", all(0));
  int looks = 0;
  const auto stopped =
      estimate_uncertainty(priced.scenario(), priced.deployment(),
                           [&](std::size_t, std::uint64_t run) { return StagePricers{priced.pricer(run)}; },
                           {1000, 1, {}, [&](const RerunProgress& progress) {
                              ++looks;
                              CHECK(progress.runs < 1000);
                              return false;
                            }});
  CHECK_FALSE(stopped);
  CHECK(looks >= 1);
}

TEST_CASE("a GPU without measured kernels has no intervals and says so") {
  const auto notes_of = [](const std::string& gpu, const std::string& runs) {
    const Deployment deployment = make_deployment(
        load_scenario_text("model: llama-3-8b\nhardware: {gpu: " + gpu + "}\nworkload: " + kChat +
                               "\nuncertainty: {runs: " + runs + "}\n",
                           "a.yaml"));
    return std::count_if(deployment.notes.begin(), deployment.notes.end(), [](const std::string& note) {
      return note.starts_with("no uncertainty intervals: ");
    });
  };
  CHECK(notes_of("mi300x", "8") == 1);
  CHECK(notes_of("mi300x", "0") == 0);
  CHECK(notes_of("h100-sxm", "8") == 0);
}

}  // namespace
}  // namespace inferometer
