#pragma once

// Pieces of make_workload() (workloads/workload_config.hpp): what `generator` and its keys describe.

#include <cstdint>
#include <memory>

#include "base/config/values.hpp"
#include "base/error.hpp"
#include "workloads/generated_workload.hpp"

namespace inferometer {

/// Adds a mistake when `requests` at `rate` take longer than simulated time allows.
void check_traffic_duration(const Values& section, Diagnostics& diagnostics);

/// From max_new_tokens or max_new_factor.
MaxNewRule make_max_new_rule(const Values& section, Diagnostics& diagnostics);

/// The workload of a section with `generator`. Throws ConfigError with all mistakes found, earlier ones
/// included.
std::unique_ptr<Workload> make_generator(const Values& section, std::uint64_t seed, Diagnostics& diagnostics);

}  // namespace inferometer
