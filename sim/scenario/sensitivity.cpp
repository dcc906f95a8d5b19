#include "sim/scenario/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/metrics/headline_metrics.hpp"
#include "sim/scenario/run_summary.hpp"
#include "workloads/slower_clock.hpp"

namespace inferometer {
namespace {

bool is_latency(const std::string& metric) {
  return metric.size() > 3 && metric.compare(metric.size() - 3, 3, "_ms") == 0;
}

/// Latencies of the run with steps `factor` times as long; others 0. Nothing when it was ended.
std::optional<std::vector<HeadlineMetric>> with_steps(const Scenario& scenario, const Deployment& deployment,
                                                      double factor, const std::function<bool()>& go_on) {
  constexpr std::int64_t kEventsBetweenLooks = 1 << 16;
  const std::int64_t millionths = std::llround(factor * 1e6);
  MetricsRecorder recorder = make_recorder(scenario, false);
  Simulation simulation =
      make_simulation(scenario, deployment, recorder, [millionths](std::unique_ptr<Workload> workload) {
        return before_slower_clock(std::move(workload), millionths);
      });
  while (simulation.run(kEventsBetweenLooks)) {
    if (go_on && !go_on()) {
      return std::nullopt;
    }
  }
  std::vector<HeadlineMetric> metrics =
      headline_metrics(summarize_run(scenario, deployment, simulation, recorder, {}, false));
  for (HeadlineMetric& metric : metrics) {
    if (metric.value && is_latency(metric.name)) {
      *metric.value *= static_cast<double>(millionths) / 1e6;
    }
  }
  return metrics;
}

}  // namespace

const Sensitivity::Change* Sensitivity::find(std::string_view metric) const {
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [metric](const Change& change) { return change.metric == metric; });
  return found == changes.end() ? nullptr : &*found;
}

double sensitivity_wanted(const Scenario& scenario, std::int64_t requests) {
  const Values& section = scenario.values.section("sensitivity");
  return section.given("step_time") || requests <= kMostRequestsUnasked ? section.number("step_time") : 0;
}

std::optional<Sensitivity> estimate_sensitivity(const Scenario& scenario, const Deployment& deployment,
                                                const Summary& summary, double step_time,
                                                const std::function<bool()>& go_on) {
  const auto shorter = with_steps(scenario, deployment, 1 - step_time, go_on);
  const auto longer = shorter ? with_steps(scenario, deployment, 1 + step_time, go_on) : std::nullopt;
  if (!longer) {
    return std::nullopt;
  }
  Sensitivity sensitivity{step_time, {}};
  const std::vector<HeadlineMetric> metrics = headline_metrics(summary);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::optional<double>& value = metrics[i].value;
    const std::optional<double>& low = (*shorter)[i].value;
    const std::optional<double>& high = (*longer)[i].value;
    if (is_latency(metrics[i].name) && value && *value > 0 && low && high) {
      sensitivity.changes.push_back({metrics[i].name, *low / *value - 1, *high / *value - 1});
    }
  }
  return sensitivity;
}

}  // namespace inferometer
