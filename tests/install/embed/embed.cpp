// A project that embeds the library: it brings a batch policy of its own, runs a scenario with it, and looks
// at the results as numbers.

#include <algorithm>
#include <iostream>

#include "shortest_prompt_first.hpp"
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

}  // namespace

int main() {
  using namespace inferometer;
  policy_registry().add(shortest_prompt_first_policy());
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
