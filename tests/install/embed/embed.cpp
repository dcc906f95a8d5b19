// A project that embeds the library: it brings a batch policy of its own, runs a scenario with it, and looks
// at the results as numbers.

#include <algorithm>
#include <iostream>

#include "shortest_prompt_first.hpp"
#include "sim/engine/stepper_check.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/report/run_report.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace {

constexpr const char* kScenario = R"(
model: llama-3-8b
hardware: {gpu: h100-sxm}
engine: {policy: shortest_prompt_first}
workload:
  generator: all_at_once
  requests: 200
  prompt: {distribution: uniform, min: 10, max: 4000}
  output: {distribution: fixed, tokens: 1}
)";

constexpr const char* kBusyScenario = R"(
model: llama-3-8b
hardware: {gpu: h100-sxm}
engine: {policy: shortest_prompt_first, num_gpu_blocks: 1000, max_num_seqs: 16}
workload: {preset: sharegpt, rate: 6 req/s, requests: 300}
)";

/// Runs the policy by both steppers; throws where what it promises does not hold.
void check_promises() {
  using namespace inferometer;
  const Scenario scenario = load_scenario_text(kBusyScenario, "busy scenario");
  Deployment deployment = make_deployment(scenario);
  MetricsRecorder recorder = make_recorder(scenario);
  StepperCheck check(recorder);
  Simulation fast = make_simulation(scenario, deployment, check);
  deployment.replica.stepper = Stepper::reference;
  check.compare(fast, std::unique_ptr<Simulation>(
                          new Simulation(make_simulation(scenario, deployment, check.reference_side()))));
  fast.run();
  check.finish();
  std::cout << recorder.totals().finished.count << " requests alike by both steppers, "
            << (fast.step_counts().in_stretches > 10 * fast.step_counts().stretches ? "in long stretches"
                                                                                    : "step by step")
            << "\n";
}

}  // namespace

int main() {
  using namespace inferometer;
  policy_registry().add(shortest_prompt_first_policy());
  check_promises();
  const Scenario scenario = load_scenario_text(kScenario, "embedded scenario");
  const Deployment deployment = make_deployment(scenario);
  MetricsRecorder recorder = make_recorder(scenario);
  Simulation simulation = make_simulation(scenario, deployment, recorder);
  simulation.run();

  const auto& finished = recorder.finished();
  const bool in_order = std::is_sorted(finished.begin(), finished.end(),
                                       [](const auto& a, const auto& b) { return a.prompt < b.prompt; });
  std::cout << finished.size() << " requests finished, "
            << (in_order ? "shortest prompt first" : "out of order") << "\n";
}
