#pragma once

// Which figures of measured runs host times are fitted to.

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/validation/measured_run.hpp"
#include "sim/validation/predict/predict.hpp"

namespace inferometer {

/// A figure of a run: places of both.
struct LatencyPlace {
  std::size_t run = 0, value = 0;
};

/// At most two a run, so that no figure counts twice: of what a token takes mean_tpot_ms or else mean_itl_ms,
/// of what the first one takes median_lone_ttft_ms (without a queue) or else mean_ttft_ms. O(values).
std::vector<LatencyPlace> fitted_latencies(const std::vector<MeasuredRun>& runs, std::size_t run);

/// ln(predicted / measured); nothing where there is no prediction above 0. Preconditions: `prediction` is of
/// the run that has `measured` at that place.
std::optional<double> log_error(const MeasuredRun& run, std::size_t value, const Prediction& prediction);

}  // namespace inferometer
