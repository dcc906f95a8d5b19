#pragma once

// What `inferometer calibrate host` says: tables for a terminal, a part of a scenario, JSON.

#include <string>
#include <vector>

#include "sim/validation/host_fit/host_fit.hpp"

namespace inferometer {

/// For each engine its host times, errors before and after, and the figures that stay unexplained, the 20
/// furthest off; then what could not be predicted.
std::string host_fit_text(const std::vector<MeasuredRun>& runs, const HostFitResult& result);

/// `cost_model` with three digits of each host time that the runs tell, and comments that name the sources. A
/// YAML document for each engine.
std::string host_fit_yaml(const HostFitResult& result);

/// {"fits": [...], "missing": [...]}; sim/report/README.md lists the fields. Durations are in microseconds.
std::string host_fit_json(const std::vector<MeasuredRun>& runs, const HostFitResult& result);

}  // namespace inferometer
