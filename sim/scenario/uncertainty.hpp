#pragma once

// How far a run's results may be off because the prices of kernels are: the run is repeated with the same
// traffic while each operator, in each region of its range, takes longer or shorter by an error drawn from
// those that its fit had on shapes left out of it. Who uses it: `inferometer run`, for scenarios with
// `uncertainty: {runs: N}`. What is not drawn: host time, elementwise kernels, operators without a fit,
// traffic.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/rerun.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// What lies between the shares kLow and kHigh of the repeated runs.
struct MetricInterval {
  std::string metric;  ///< of headline_metrics()
  double low = 0, high = 0;
};

struct Uncertainty {
  static constexpr double kLow = 0.05, kHigh = 0.95;

  std::int64_t runs = 0;
  std::int64_t replayed_requests = 0;  ///< in all of them, but for those behind capacities
  std::int64_t simulated_steps = 0;    ///< likewise
  /// In the order of headline_metrics(), of those that every run had a value of. The value of the run itself
  /// may lie outside where errors have a bias.
  std::vector<MetricInterval> intervals;

  /// nullptr when there is none.
  [[nodiscard]] const MetricInterval* find(std::string_view metric) const;
};

/// Prices of a pool in the run behind an interval, by its number from 1 on: pricers by stage. Nothing for a
/// pool that keeps its own. Called from several threads at once.
using ResampledPricers = std::function<StagePricers(std::size_t pool, std::uint64_t run)>;

/// Whether errors can be drawn: some pool is priced at level calibrated.
bool has_measured_kernels(const Deployment& deployment);

/// From the kernels that price the deployment, whose profiles are read once; pools without any keep their
/// prices. Pools with the same kernels have the same errors. Precondition: has_measured_kernels(). Throws
/// ConfigError for a profile that can no longer be read. `deployment` outlives the result.
ResampledPricers resampled_pricers(const Deployment& deployment);

/// Repeats the scenario and takes the interval of every headline metric. Nothing when `go_on` ended it. Each
/// run costs what the run itself does without its records, its estimate of the capacity included, and the
/// building of a pricer. Throws what a run throws (TraceError, ConfigError).
std::optional<Uncertainty> estimate_uncertainty(const Scenario& scenario, const Deployment& deployment,
                                                const ResampledPricers& pricers, const RerunOptions& options);

}  // namespace inferometer
