#pragma once

// Many simulations of measured runs, with host times laid over them. Who uses it: the fit of host times,
// which knows no processes; its tests put a formula in the place of simulations.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/validation/predict/predict.hpp"

namespace inferometer {

struct SimulatedQuestion {
  std::size_t run = 0;                   ///< its place
  std::vector<std::string> assignments;  ///< "path.to.key=value", over all others
  std::int64_t intervals = 0;            ///< re-runs behind intervals of kernel errors; 0: none
};

/// A prediction for each question, in their order.
using Simulator = std::function<std::vector<Prediction>(const std::vector<SimulatedQuestion>&)>;

/// Thrown out of a simulator when the user has had enough.
struct SimulationsStopped {};

/// Calls `lead` with a simulator of `runs` by `jobs` worker processes (>= 1), whose answers are the same for
/// any number of them. `go_on` is called about ten times a second with how many simulations have ended so
/// far; when it returns false, the simulator throws SimulationsStopped. Returns whether `lead` was called in
/// this process: other ranks of an MPI job answer. Must be called before the process has threads, once.
/// Throws ConfigError when processes cannot be started, and what `lead` throws. A process that dies fails its
/// prediction.
bool with_simulator(const std::vector<MeasuredRun>& runs, const PredictionOptions& options, int jobs,
                    const std::function<bool(std::int64_t done)>& go_on,
                    const std::function<void(const Simulator&)>& lead);

}  // namespace inferometer
