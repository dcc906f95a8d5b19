#pragma once

// The scenario that a measured run is predicted by.

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// What the user says of all runs. Layers from the bottom: the base, the preset of the run's engine, what
/// the run says of itself, the assignments. A base or assignment that names a preset has it instead.
struct PredictionBase {
  ConfigNode tree;                       ///< a map like a scenario's, which need not be whole
  std::string file;                      ///< its name; "": there is none
  std::vector<std::string> assignments;  ///< "path.to.key=value"
};

/// Of the scenario file at `path`; without one ("") the base is empty. Throws ConfigError.
PredictionBase read_prediction_base(const std::string& path, std::vector<std::string> assignments);

/// All that is laid over the base, in order: the preset, the run's settings, the user's assignments. What was
/// assumed goes to `notes`.
std::vector<std::string> layered_settings(const MeasuredRun& run, const PredictionBase& base,
                                          std::vector<std::string>& notes);

/// The run's requests in order of arrival; nullptr when none were recorded.
std::shared_ptr<const std::vector<Request>> requests_of(const MeasuredRun& run);

/// Requests that were recorded are its listed_requests. Throws ConfigError: what loading a scenario throws; a
/// key of `workload` that would change recorded requests.
Scenario scenario_of(const MeasuredRun& run, const PredictionBase& base,
                     const std::vector<std::string>& settings);

}  // namespace inferometer
