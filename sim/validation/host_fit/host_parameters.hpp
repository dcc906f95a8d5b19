#pragma once

// The host times of a scenario that end-to-end measurements can tell.

#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// A key of `cost_model`.
struct HostParameter {
  std::string key;   ///< "host_fixed"
  Duration typical;  ///< its unit in the fit: what it would be on a machine of today
  Duration probe;    ///< least change by which derivatives are found: large beside the grain of simulations
  Duration most;     ///< that a scenario takes
};

/// host_fixed, host_per_sequence, host_per_prefill_token, frontend_latency, in this order.
const std::vector<HostParameter>& host_parameters();

/// Those named in `words`, "a,b", in the order of host_parameters(). Throws ConfigError at `--fit` for a word
/// that is none (names the nearest), that is empty or given twice.
std::vector<HostParameter> host_parameters_named(const std::string& words);

/// What the scenario has them at, in their units.
std::vector<double> host_values(const Scenario& scenario, const std::vector<HostParameter>& parameters);

/// Whole picoseconds. Precondition: value >= 0.
Duration host_duration(const HostParameter& parameter, double value);

/// "cost_model.host_fixed=500000000 ps", one for each. Precondition: a value each.
std::vector<std::string> host_assignments(const std::vector<HostParameter>& parameters,
                                          const std::vector<double>& values);

}  // namespace inferometer
