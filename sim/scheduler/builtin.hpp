#pragma once

#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

// One function a file of impl/. Adding a policy: its file, its line here and its line in builtin.cpp.
PolicyEntry static_policy();
PolicyEntry orca_policy();
PolicyEntry continuous_policy();
PolicyEntry chunked_prefill_policy();
PolicyEntry sarathi_policy();
PolicyEntry sglang_policy();
PolicyEntry trtllm_policy();
PolicyEntry priority_policy();
PolicyEntry shortest_job_first_policy();

}  // namespace inferometer
