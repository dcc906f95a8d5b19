#pragma once

// Predictions of many runs, by several processes.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/validation/predict/predict.hpp"

namespace inferometer {

/// Predicts the runs in their order; deployments of runs that differ in nothing but traffic share their
/// tables of prices. Who uses it: worker processes, and tests.
class Predictor {
 public:
  /// Both outlive it.
  Predictor(const std::vector<MeasuredRun>& runs, const PredictionOptions& options)
      : runs_(runs), options_(options) {}

  /// What the user got wrong (it does not fit, a model that is not known) is the prediction's failure. With
  /// SimGrid the run is in a process of its own. `more` is laid over everything else.
  Prediction predict_run(std::size_t place, const std::vector<std::string>& more = {});

 private:
  const Deployment& deployment(const std::vector<std::string>& settings, const Scenario& scenario);

  const std::vector<MeasuredRun>& runs_;
  const PredictionOptions& options_;
  std::vector<std::string> kept_settings_;
  std::optional<Deployment> kept_;
};

/// Predictions in the order of the runs, by `jobs` worker processes (>= 1), the same for any number. `go_on`
/// is called about ten times a second with how many are done; when it returns false, nothing is returned.
/// Nothing either on the ranks of an MPI job that answer. Must be called before the process has threads. A
/// process that dies fails its run. Throws ConfigError when processes cannot be started.
std::optional<std::vector<Prediction>> predict_runs(const std::vector<MeasuredRun>& runs,
                                                    const PredictionOptions& options, int jobs,
                                                    const std::function<bool(std::int64_t done)>& go_on);

}  // namespace inferometer
