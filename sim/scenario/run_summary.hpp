#pragma once

// The figures of one run of a scenario. Who uses it: the report of the run, and the runs behind its
// uncertainty intervals.

#include <span>
#include <vector>

#include "sim/engine/simulation.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/metrics/request_lengths.hpp"
#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

/// A recorder that fits the scenario. `keep_records`: a record of each request, 88 bytes, which requests.csv
/// and whoever looks at single requests need, and the other results do not.
MetricsRecorder make_recorder(const Scenario& scenario, bool keep_records = true);

/// Lengths to estimate the deployment's capacity by: of finished requests, spread evenly over the run.
std::vector<RequestLengths> capacity_sample(const Deployment& deployment, const MetricsRecorder& recorder);

/// What came out once `simulation`, watched by `recorder`, has ended or (`partial`) was stopped. Replays
/// `sample` to estimate the capacity.
Summary summarize_run(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                      const MetricsRecorder& recorder, std::span<const RequestLengths> sample, bool partial);

}  // namespace inferometer
