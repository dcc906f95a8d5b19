#pragma once

// What the model says would have been measured in a run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/measured_run.hpp"
#include "sim/validation/predict/prediction_interval.hpp"
#include "sim/validation/predict/run_scenario.hpp"
#include "sim/validation/predict/saturation.hpp"

namespace inferometer {

struct PredictionOptions {
  PredictionBase base;
  std::int64_t intervals = 0;                  ///< re-runs behind intervals of kernel errors; 0: no intervals
  EngineErrors engine_errors = kEngineErrors;  ///< in intervals, when there are any
};

struct PredictedValue {
  std::string metric;
  std::optional<double> value;  ///< absent when the run has none, or there is no metric of that name
  std::optional<ValueRange> range;
};

struct Prediction {
  std::string failure;                 ///< why there is none; the rest is empty then, but for `settings`
  std::vector<PredictedValue> values;  ///< of the measured values, in their order
  Saturation saturation;
  std::vector<std::string> settings;  ///< that were laid over the base, in order
  std::vector<std::string> notes;     ///< of the run, of the preset, of the deployment
};

/// Runs the scenario of `run` as `inferometer run` does, and `intervals` more times. Pure: the same inputs
/// give the same prediction. Leaves `settings` empty. Throws what the user got wrong (ConfigError,
/// TraceError). Costs 1 + intervals runs. The range of kLoneTtft is as wide, relatively, as that of
/// median_ttft_ms.
Prediction predict(const MeasuredRun& run, const Scenario& scenario, const Deployment& deployment,
                   const PredictionOptions& options);

}  // namespace inferometer
