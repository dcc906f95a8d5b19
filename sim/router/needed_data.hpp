#pragma once

// RouterEntry::missing_data of routers that look at more than loads.

#include <functional>
#include <string>

#include "base/config/values.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// Whether a request of a section `workload` with a trace has what `has` looks for. Reads the trace as far as
/// the first that does, to the end when none does. True, too, when there is no such file: whoever opens it
/// for the run says so.
bool any_of_trace_has(const Values& workload, const std::function<bool(const Request&)>& has);

/// missing_data of routers that follow prompts.
std::string missing_shared_prefixes(const Values& workload);

}  // namespace inferometer
