#pragma once

#include "sim/report/report.hpp"
#include "sim/scenario/run_summary.hpp"

namespace inferometer {

/// Everything a run of `scenario` has to say once `simulation`, watched by `recorder`, has ended or
/// (`partial`) was stopped. Replays a sample of the requests to estimate the deployment's capacity, and
/// hashes the inputs. Throws ConfigError for inputs that can no longer be read.
Report make_report(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                   const MetricsRecorder& recorder, bool partial);

}  // namespace inferometer
