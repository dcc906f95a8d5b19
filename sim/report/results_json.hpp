#pragma once

#include <string>

#include "sim/report/report.hpp"

namespace inferometer {

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
inline constexpr int kResultsSchemaVersion = 1;

/// results.json: two spaces an indent, a newline at the end, UTF-8. Nothing in it depends on the machine, the
/// locale or the clock. sim/report/README.md explains every field. A latency that no request has is null.
std::string results_json(const Report& report);

}  // namespace inferometer
