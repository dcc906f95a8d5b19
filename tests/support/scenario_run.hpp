#pragma once

// Whole runs of scenarios from text, for tests of what comes out of them.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer::testing {

/// What a scenario comes to, with what its summary is made from.
struct ScenarioRun {
  Scenario scenario;
  Deployment deployment;
  MetricsRecorder recorder;
  Summary summary;
  Duration longest_decoding_step;  ///< of the steps in which someone decoded
  Duration busy;                   ///< lengths of all steps, added up
};

/// Runs to the end. `changes` are laid over the text as `--set` does.
ScenarioRun run_scenario(const std::string& text, const std::vector<std::string>& changes = {});
/// The same for one that is loaded.
ScenarioRun run_scenario(Scenario scenario);

}  // namespace inferometer::testing
