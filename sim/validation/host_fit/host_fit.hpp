#pragma once

// Host times of an engine with which simulations best explain measured end-to-end runs. Who uses it:
// `inferometer calibrate host`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/host_fit/host_parameters.hpp"
#include "sim/validation/host_fit/simulator.hpp"
#include "sim/validation/predict/judge.hpp"

namespace inferometer {

struct HostFitOptions {
  PredictionBase base;
  std::vector<HostParameter> fitted = host_parameters();
  std::int64_t every = 1;             ///< fitted to every N-th run of each group, in their order; >= 1
  std::int64_t interval_reruns = 16;  ///< behind intervals of what stays unexplained; 0: none
};

/// What one key of `cost_model` came to.
struct HostTime {
  std::string key;  ///< "host_fixed"
  Duration start;   ///< what the scenarios have
  Duration value;
  /// Whether these runs tell it; else `value` is `start`, or as far as they told until they told no more.
  bool is_determined = false;
  std::optional<Duration> low, high;  ///< 5 and 95 %; absent with fewer than 5 runs
};

/// |predicted / measured - 1| of a metric before the fit and after, over the same runs.
struct FitErrors {
  std::string metric;
  std::int64_t count = 0;
  double median_before = 0, mean_before = 0, bias_before = 0;
  double median_after = 0, mean_after = 0, bias_after = 0;
};

/// A figure further off than three robust standard deviations and 15 %.
struct UnexplainedValue {
  std::size_t run = 0;
  std::string metric;
  double measured = 0, predicted = 0;
  std::optional<ValueRange> range;  ///< of the prediction, for the errors of the kernels
  bool is_fitted = false;
};

/// Of the runs of one engine.
struct HostFit {
  std::string engine;                ///< "vllm-0.15": its preset, or its name where it has none
  std::vector<std::string> sources;  ///< files of the runs
  std::int64_t fitted_runs = 0, unseen_runs = 0, saturated_runs = 0;
  std::vector<HostTime> times;
  double scatter =
      0;  ///< robust standard deviation of ln(predicted / measured) of fitted values after the fit
  std::int64_t steps = 0;
  bool has_settled = false;                   ///< the last step moved nothing by more than 1 %
  std::vector<FitErrors> fitted, unseen;      ///< unseen is empty with every = 1
  std::vector<UnexplainedValue> unexplained;  ///< furthest off first
};

struct HostFitResult {
  std::vector<HostFit> fits;              ///< by engine, in the order in which they first occur
  std::vector<UnpredictedValue> missing;  ///< runs without a prediction
};

/// Fits runs away from saturation, as distance_to_saturation() has it, each engine and preset by itself:
/// least Huber loss of ln(predicted / measured) by at most six Gauss-Newton steps with derivatives from
/// simulations with one host time changed; host times stay at or above 0. Intervals: 500 bootstrap draws of
/// runs (Efron and Tibshirani, An Introduction to the Bootstrap, 1993), of the problem as it is linear at the
/// solution. Costs up to 6 * (2 + fitted.size()) simulations a run. Throws ConfigError when no run has a
/// latency to fit (says what there is), or none is away from saturation; what the simulator throws. A pure
/// function of its arguments.
HostFitResult fit_host_times(const std::vector<MeasuredRun>& runs, const HostFitOptions& options,
                             const Simulator& simulate);

}  // namespace inferometer
