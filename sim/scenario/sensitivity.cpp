#include "sim/scenario/sensitivity.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr double kUnaskedStepTime = 0.05;

bool is_latency(std::string_view metric) {
  constexpr std::string_view kUnit = "_ms";
  return metric.size() > kUnit.size() && metric.substr(metric.size() - kUnit.size()) == kUnit;
}

}  // namespace

const MovedMetric* Sensitivity::find(std::string_view metric) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [metric](const MovedMetric& moved) { return moved.metric == metric; });
  return found == metrics.end() ? nullptr : &*found;
}

double sensitivity_step_time(const Scenario& scenario, std::int64_t requests) {
  const Values& sensitivity = scenario.values.section("sensitivity");
  if (sensitivity.has("step_time")) {
    return sensitivity.number("step_time");
  }
  return requests <= kMostRequestsRepeatedUnasked ? kUnaskedStepTime : 0;
}

Deployment with_step_time(Scenario scenario, double factor, Stepper stepper) {
  for (PoolSpec& pool : scenario.pools) {
    pool.step_time = factor;
  }
  Deployment deployment = make_deployment(scenario);
  deployment.set_stepper(stepper);
  return deployment;
}

std::optional<Sensitivity> estimate_sensitivity(const Scenario& scenario, double step_time, Stepper stepper,
                                                RerunOptions options) {
  INFEROMETER_CHECK(step_time > 0 && step_time < 1, "steps stay longer than nothing");
  options.runs = 2;
  const auto outcomes = rerun(
      scenario,
      [&](std::int64_t run) {
        return with_step_time(scenario, run == 0 ? 1 - step_time : 1 + step_time, stepper);
      },
      options);
  if (!outcomes) {
    return std::nullopt;
  }
  const std::vector<HeadlineMetric>& shorter = outcomes->front().metrics;
  const std::vector<HeadlineMetric>& longer = outcomes->back().metrics;
  Sensitivity result;
  result.step_time = step_time;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    if (is_latency(shorter[i].name) && shorter[i].value && longer[i].value) {
      result.metrics.push_back({shorter[i].name, *shorter[i].value, *longer[i].value});
    }
  }
  return result;
}

}  // namespace inferometer
