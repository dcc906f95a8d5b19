#include "sim/scenario/sensitivity.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/report/sensitivity_sentence.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

const std::string kOneGpu = "model: llama-3-8b\nhardware: {gpu: h100-sxm}\n";

Scenario read(const std::string& rest) {
  return load_scenario_text(kOneGpu + rest, "a.yaml");
}

/// Requests alike, so many tokens of a prompt.
std::string workload(double rate, int requests, int prompt, int output) {
  return fmt::format(
      "workload: {{generator: constant, rate: {:.9f} req/s, requests: {}, prompt: {{distribution: fixed, "
      "tokens: {}}}, output: {{distribution: fixed, tokens: {}}}}}\n",
      rate, requests, prompt, output);
}

Sensitivity estimate(const Scenario& scenario, double step_time = 0.05, Stepper stepper = Stepper::fast) {
  RerunOptions options;
  options.threads = 2;
  return *estimate_sensitivity(scenario, step_time, stepper, options);
}

double prefill_ms(const Scenario& scenario, std::int64_t tokens) {
  const std::vector<ChunkShape> prompt = {{tokens, 0}};
  return to_milliseconds(make_deployment(scenario).front().pricers.front()->price({0, 0, 1, prompt}).total());
}

const MovedMetric& at(const Sensitivity& sensitivity, const std::string& metric) {
  const MovedMetric* const found = sensitivity.find(metric);
  REQUIRE(found != nullptr);
  return *found;
}

void check_moved(const MovedMetric& moved, double minus, double plus) {
  CAPTURE(moved.metric);
  CHECK(moved.minus == Approx(minus).epsilon(1e-6));
  CHECK(moved.plus == Approx(plus).epsilon(1e-6));
}

// A request that is alone waits for its own steps, which take a twentieth more or less, and for the front
// end, which does not.
TEST_CASE("without a queue a latency moves as far as the steps in it") {
  for (const char* const level : {"roofline", "calibrated", "datasheet"}) {
    const Scenario scenario =
        read(fmt::format("cost_model: {{level: {}, frontend_latency: 100 ms}}\n", level) +
             workload(0.1, 5, 512, 2));
    const StepShape decode{1, 513, 1, {}};
    const double first_ms = prefill_ms(scenario, 512);
    const double second_ms =
        to_milliseconds(make_deployment(scenario).front().pricers.front()->price(decode).total());
    const Sensitivity moved = estimate(scenario);
    CHECK(moved.step_time == 0.05);
    check_moved(at(moved, "mean_ttft_ms"), 100 + 0.95 * first_ms, 100 + 1.05 * first_ms);
    check_moved(at(moved, "p99_tpot_ms"), 0.95 * second_ms, 1.05 * second_ms);
    check_moved(at(moved, "mean_e2el_ms"), 100 + 0.95 * (first_ms + second_ms),
                100 + 1.05 * (first_ms + second_ms));
    check_moved(at(moved, "mean_queue_delay_ms"), 100, 100);  // counted from when the client sent it
  }
}

// One request at a time, of one step s each, and the next one a = 0.97 s later: the k-th waits for k (s - a).
// Of 21, the mean TTFT is s + 10 (s - a): 1.85 s with steps of 1.05 s, and 0.95 s, without a wait, with steps
// of 0.95 s.
TEST_CASE("a queue at its limit makes much of a few percent") {
  const std::string engine = "engine: {policy: continuous, max_num_seqs: 1}\n";
  const double step_ms = prefill_ms(read(engine + workload(1, 1, 512, 1)), 512);
  const Sensitivity moved = estimate(read(engine + workload(1e3 / (0.97 * step_ms), 21, 512, 1)));
  check_moved(at(moved, "mean_ttft_ms"), 0.95 * step_ms, 1.85 * step_ms);
}

// M/D/1: at load r a request takes s (1 + r / (2 (1 - r))) on average. At 0.8, steps 5 % longer make a load
// of 0.84 and 1.05 s (1 + 0.84 / 0.32) = 3.806 s, 5 % shorter ones 0.95 s (1 + 0.76 / 0.48) = 2.454 s. So
// many waits are a few percent off at such loads.
TEST_CASE("near saturation a small change of steps is a large one of waits") {
  const std::string engine = "engine: {max_num_seqs: 1}\nseed: 3\n";
  const double step_ms = prefill_ms(read(engine + workload(1, 1, 700, 1)), 700);
  const Sensitivity moved = estimate(
      read(engine + fmt::format("workload: {{generator: poisson, exact_duration: false, rate: {:.9f} req/s, "
                                "requests: 200000, prompt: {{distribution: fixed, tokens: 700}}, "
                                "output: {{distribution: fixed, tokens: 1}}}}\n",
                                0.8e3 / step_ms)));
  CHECK(at(moved, "mean_ttft_ms").plus == Approx(3.80625 * step_ms).epsilon(0.06));
  CHECK(at(moved, "mean_ttft_ms").minus == Approx(2.4541667 * step_ms).epsilon(0.06));
}

// Two clients that think for s / 2 share one slot, which never idles: each cycle takes 2 s, of which a client
// waits 2 s - s / 2. With steps 10 % longer that is 2.2 s - s / 2, with shorter ones 1.8 s - s / 2. The first
// answer of 4000 came sooner.
TEST_CASE("clients of a closed loop think as long as before") {
  const std::string engine = "engine: {max_num_seqs: 1}\n";
  const double step_ms = prefill_ms(read(engine + workload(1, 1, 700, 1)), 700);
  const Sensitivity moved = estimate(
      read(engine + fmt::format("workload: {{generator: closed_loop, clients: 2, think_times: fixed, "
                                "think_time: {:.9f} ms, requests: 4000, prompt: {{distribution: fixed, "
                                "tokens: 700}}, output: {{distribution: fixed, tokens: 1}}}}\n",
                                step_ms / 2)),
      0.1);
  CHECK(at(moved, "mean_e2el_ms").plus == Approx(1.7 * step_ms).epsilon(1e-3));
  CHECK(at(moved, "mean_e2el_ms").minus == Approx(1.3 * step_ms).epsilon(1e-3));
}

TEST_CASE("the scenario's own share is taken") {
  const Scenario scenario = read(workload(0.1, 3, 512, 1));
  const double step_ms = prefill_ms(scenario, 512);
  check_moved(at(estimate(scenario, 0.2), "mean_ttft_ms"), 0.8 * step_ms, 1.2 * step_ms);
}

TEST_CASE("only latencies are told, and those that both runs have") {
  const Sensitivity moved = estimate(read(workload(0.1, 3, 512, 1)));
  CHECK(moved.find("mean_e2el_ms") != nullptr);
  CHECK(moved.find("request_throughput") == nullptr);
  CHECK(moved.find("energy_joules") == nullptr);
  CHECK(moved.find("mean_tpot_ms") == nullptr);  // of answers of one token there is none
}

TEST_CASE("both steppers find the same") {
  const Scenario scenario = read("workload: {preset: azure-conversation, rate: 12 req/s, requests: 200}\n");
  const Sensitivity fast = estimate(scenario);
  const Sensitivity reference = estimate(scenario, 0.05, Stepper::reference);
  REQUIRE(fast.metrics.size() == reference.metrics.size());
  for (std::size_t i = 0; i < fast.metrics.size(); ++i) {
    CAPTURE(fast.metrics[i].metric);
    CHECK(fast.metrics[i].minus == reference.metrics[i].minus);
    CHECK(fast.metrics[i].plus == reference.metrics[i].plus);
  }
}

TEST_CASE("steps of all pools and stages get longer") {
  const Scenario scenario = read(
      "engine: {policy: disaggregated, system: distserve}\n"
      "cluster: {pools: {prefill: {}, decode: {pipeline_parallel: 2}}, network: {model: none}}\n" +
      workload(1, 1, 512, 2));
  const Deployment plain = make_deployment(scenario);
  const Deployment longer = with_step_time(scenario, 1.05, Stepper::reference);
  const StepShape decodes{8, 8000, 8, {}};
  REQUIRE(longer.pools.size() == 2);
  for (std::size_t pool = 0; pool < 2; ++pool) {
    CHECK(longer.pools[pool].replica.stepper == Stepper::reference);
    CHECK(longer.cluster->pools[pool].prefill_tokens_per_second ==
          Approx(plain.cluster->pools[pool].prefill_tokens_per_second / 1.05).epsilon(1e-6));
    REQUIRE(longer.pools[pool].pricers.size() == pool + 1);
    for (std::size_t stage = 0; stage <= pool; ++stage) {
      CHECK(
          static_cast<double>(longer.pools[pool].pricers[stage]->price(decodes).total().count()) ==
          Approx(1.05 * static_cast<double>(plain.pools[pool].pricers[stage]->price(decodes).total().count()))
              .epsilon(1e-6));
    }
  }
}

TEST_CASE("long runs are repeated only when the scenario says so") {
  const Scenario silent = read(workload(1, 1, 10, 1));
  CHECK(sensitivity_step_time(silent, 200'000) == 0.05);
  CHECK(sensitivity_step_time(silent, 200'001) == 0);
  const Scenario asked = read("sensitivity: {step_time: 0.1}\n" + workload(1, 1, 10, 1));
  CHECK(sensitivity_step_time(asked, 10) == 0.1);
  CHECK(sensitivity_step_time(asked, 1'000'000) == 0.1);
  CHECK(sensitivity_step_time(read("sensitivity: {step_time: 0}\n" + workload(1, 1, 10, 1)), 10) == 0);
}

TEST_CASE("runs that are stopped leave no sensitivity") {
  RerunOptions options;
  options.go_on = [](const RerunProgress&) { return false; };
  const Scenario scenario =
      read("workload: {preset: azure-conversation, rate: 12 req/s, requests: 100000}\n");
  CHECK_FALSE(estimate_sensitivity(scenario, 0.05, Stepper::fast, options).has_value());
}

DurationStatistics with_mean(double mean_ms) {
  DurationStatistics statistics;
  statistics.mean_ms = mean_ms;
  return statistics;
}

TEST_CASE("a sentence tells how far means move") {
  Summary summary;
  summary.ttft = with_mean(50);
  summary.tpot = with_mean(20);
  summary.e2el = with_mean(0);
  Sensitivity moved;
  moved.step_time = 0.05;
  CHECK(sensitivity_sentence(moved, summary) == "steps 5 % longer: no latency to compare");
  moved.metrics = {{"mean_ttft_ms", 45, 60}, {"mean_tpot_ms", 19, 19.5}, {"mean_e2el_ms", 0, 0}};
  CHECK(sensitivity_sentence(moved, summary) == "steps 5 % longer: mean TTFT +20.0 %, TPOT -2.50 %");
  moved.metrics.erase(moved.metrics.begin());
  moved.step_time = 0.125;
  CHECK(sensitivity_sentence(moved, summary) == "steps 12.5 % longer: mean TPOT -2.50 %");
}

}  // namespace
}  // namespace inferometer
