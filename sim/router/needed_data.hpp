#pragma once

// RouterEntry::missing_data of routers that look at more than loads.

#include <functional>
#include <string>

#include "base/config/values.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// Whether a request of the section `workload` has what `has` looks for. Reads a trace as far as the first
/// that does, to the end when none does; of generated requests the first thousand. True, too, when the
/// workload cannot be made: whoever makes it for the run says what is wrong.
bool any_request_has(const Values& workload, const std::function<bool(const Request&)>& has);

/// "no request of the trace", "no generated request": the beginning of what is missing.
std::string no_request_of(const Values& workload);

/// missing_data of routers that compare prompts.
std::string missing_shared_prefixes(const Values& workload);

}  // namespace inferometer
