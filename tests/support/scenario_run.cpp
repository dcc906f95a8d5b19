#include "tests/support/scenario_run.hpp"

#include <algorithm>
#include <utility>

#include "sim/report/run_report.hpp"

namespace inferometer::testing {
namespace {

/// A recorder with its own count of how long steps were.
class WatchedRecorder : public SimulationObserver {
 public:
  explicit WatchedRecorder(MetricsRecorder empty) : recorder(std::move(empty)) {}

  void on_arrival(const Request& request, std::int64_t waiting) override {
    recorder.on_arrival(request, waiting);
  }
  void on_rejected(const RejectedRequest& request) override { recorder.on_rejected(request); }
  void on_finished(const FinishedRequest& request) override { recorder.on_finished(request); }
  void on_steps(const StepRecord& steps) override {
    recorder.on_steps(steps);
    visit_steps(steps, [&](const StepRecord& step) {
      const Duration length = step.stretch.time();
      busy = busy + length;
      if (step.decodes > 0) {
        longest_decoding_step = std::max(longest_decoding_step, length);
      }
    });
  }

  MetricsRecorder recorder;
  Duration longest_decoding_step;
  Duration busy;
};

}  // namespace

ScenarioRun run_scenario(const std::string& text, const std::vector<std::string>& changes) {
  return run_scenario(load_scenario_text(text, "test.yaml", {changes, {}}));
}

ScenarioRun run_scenario(Scenario scenario) {
  Deployment deployment = make_deployment(scenario);
  WatchedRecorder watched(make_recorder(scenario));
  Simulation simulation = make_simulation(scenario, deployment, watched);
  simulation.run();
  Report report = make_report(scenario, deployment, simulation, watched.recorder, false);
  return {std::move(scenario),       std::move(deployment),         std::move(watched.recorder),
          std::move(report.summary), watched.longest_decoding_step, watched.busy};
}

}  // namespace inferometer::testing
