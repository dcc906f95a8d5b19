#pragma once

// A run's scenario again with other prices, on a few threads. Who uses it: uncertainty intervals and
// sensitivities.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/metrics/headline_metrics.hpp"
#include "sim/metrics/request_lengths.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

struct RerunProgress {
  std::int64_t runs = 0;      ///< that have ended
  std::int64_t requests = 0;  ///< replayed in them
};

struct RerunOptions {
  std::int64_t runs = 0;  ///< >= 1
  int threads = 1;        ///< >= 1; changes no result. One where simulations cannot run side by side
  /// Of the run itself: capacities are estimated by the same requests, so that only prices differ. Without
  /// any, none are.
  std::span<const RequestLengths> capacity_sample;
  /// Called on the calling thread about ten times a second; false: end now. None: run to the end.
  std::function<bool(const RerunProgress&)> go_on;
};

/// What is kept of a repeated run.
struct RerunOutcome {
  std::vector<HeadlineMetric> metrics;
  std::int64_t requests = 0;
  std::int64_t steps = 0;
};

/// Each of the `options.runs` runs of the same traffic on a deployment of its own, made by its number from 0
/// on, on the thread that runs it. Nothing when `go_on` ended them. Each costs what the run itself does
/// without its records, and its deployment. Throws what a run throws (TraceError, ConfigError).
std::optional<std::vector<RerunOutcome>> rerun(const Scenario& scenario,
                                               const std::function<Deployment(std::int64_t)>& deployment_of,
                                               const RerunOptions& options);

}  // namespace inferometer
