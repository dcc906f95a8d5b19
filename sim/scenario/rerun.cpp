#include "sim/scenario/rerun.hpp"

#include <atomic>
#include <utility>

#include "base/check.hpp"
#include "base/parallel.hpp"
#include "sim/scenario/run_summary.hpp"

namespace inferometer {
namespace {

/// Nothing when `is_stopped` turned true meanwhile.
std::optional<RerunOutcome> replay(const Scenario& scenario, const Deployment& deployment,
                                   std::span<const RequestLengths> sample,
                                   const std::atomic<bool>& is_stopped) {
  constexpr std::int64_t kEventsBetweenLooks = 1 << 16;
  MetricsRecorder recorder = make_recorder(scenario, false);
  Simulation simulation = make_simulation(scenario, deployment, recorder);
  bool is_more = true;
  while (is_more && !is_stopped) {
    is_more = simulation.run(kEventsBetweenLooks);
  }
  if (is_stopped) {
    return std::nullopt;
  }
  const Summary summary = summarize_run(scenario, deployment, simulation, recorder, sample, false);
  return RerunOutcome{headline_metrics(summary), summary.census.injected, summary.all_phases.steps};
}

}  // namespace

std::optional<std::vector<RerunOutcome>> rerun(const Scenario& scenario,
                                               const std::function<Deployment(std::int64_t)>& deployment_of,
                                               const RerunOptions& options) {
  INFEROMETER_CHECK(options.runs >= 1, "what is repeated is run");
  std::vector<std::optional<RerunOutcome>> outcomes(static_cast<std::size_t>(options.runs));
  std::atomic<bool> is_stopped = false;
  std::atomic<std::int64_t> runs_done = 0, requests_done = 0;
  run_jobs(
      options.runs, options.threads,
      [&](std::int64_t index) {
        if (is_stopped) {
          return;
        }
        std::optional<RerunOutcome> outcome =
            replay(scenario, deployment_of(index), options.capacity_sample, is_stopped);
        if (outcome) {
          requests_done += outcome->requests;
          ++runs_done;
        }
        outcomes[static_cast<std::size_t>(index)] = std::move(outcome);
      },
      [&] {
        if (options.go_on && !options.go_on({runs_done, requests_done})) {
          is_stopped = true;
        }
      });
  std::vector<RerunOutcome> whole;
  for (std::optional<RerunOutcome>& outcome : outcomes) {
    if (!outcome) {
      return std::nullopt;
    }
    whole.push_back(std::move(*outcome));
  }
  return whole;
}

}  // namespace inferometer
