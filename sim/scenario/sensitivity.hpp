#pragma once

// How far a run's latencies move when all steps take a little longer or shorter: the run is repeated with the
// same traffic and every step's GPU and host time multiplied by one factor. Near the limit of a deployment
// queues make far more of it than the few percent that prices may be off. Who uses it: `inferometer run`.
// What keeps its time: arrivals, the front end, transfers between replicas and to or from host memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/rerun.hpp"

namespace inferometer {

/// A latency in the two repeated runs.
struct MovedMetric {
  std::string metric;  ///< of headline_metrics(), in ms
  double minus = 0;    ///< with shorter steps
  double plus = 0;     ///< with longer steps
};

struct Sensitivity {
  double step_time = 0;              ///< by which share of themselves steps were shorter and longer
  std::vector<MovedMetric> metrics;  ///< in the order of headline_metrics(), of those that both runs have

  /// nullptr when there is none.
  [[nodiscard]] const MovedMetric* find(std::string_view metric) const;
};

/// Runs of more requests than this are repeated only when the scenario says so.
inline constexpr std::int64_t kMostRequestsRepeatedUnasked = 200'000;

/// By which share of themselves steps are to get longer and shorter: as the scenario says, else 5 % in a run
/// of so few requests. 0: no sensitivity.
double sensitivity_step_time(const Scenario& scenario, std::int64_t requests);

/// A deployment of the scenario with steps that take `factor` times as long, which replicas run by `stepper`.
/// Throws what make_deployment() throws.
Deployment with_step_time(Scenario scenario, double factor, Stepper stepper);

/// Repeats the run with steps that take 1 - `step_time` and 1 + `step_time` times as long. Nothing when
/// `go_on` ended that. Sets `options.runs`. Costs two runs without records and the building of their prices.
/// Precondition: 0 < step_time < 1.
std::optional<Sensitivity> estimate_sensitivity(const Scenario& scenario, double step_time, Stepper stepper,
                                                RerunOptions options);

}  // namespace inferometer
