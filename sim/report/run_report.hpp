#pragma once

#include "sim/metrics/recorder.hpp"
#include "sim/report/report.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

/// A recorder that fits the scenario. `keep_records`: a record of each request, 64 bytes, which requests.csv
/// and whoever looks at single requests need, and the other results do not.
MetricsRecorder make_recorder(const Scenario& scenario, bool keep_records = true);

/// Everything a run of `scenario` has to say once `simulation`, watched by `recorder`, has ended or
/// (`partial`) was stopped. Replays a sample of the requests to estimate the deployment's capacity, and
/// hashes the inputs. Throws ConfigError for inputs that can no longer be read.
Report make_report(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                   const MetricsRecorder& recorder, bool partial);

}  // namespace inferometer
