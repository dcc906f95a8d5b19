#pragma once

#include "sim/router/router.hpp"

namespace inferometer {

// One function a file of impl/. Adding a router: its file, its line here and its line in builtin.cpp.
RouterEntry round_robin_router();
RouterEntry random_router();
RouterEntry least_outstanding_router();
RouterEntry least_tokens_router();
RouterEntry power_of_two_router();
RouterEntry session_affinity_router();
RouterEntry cache_aware_router();
RouterEntry kv_aware_router();
RouterEntry prefix_scorer_router();
RouterEntry conductor_router();

}  // namespace inferometer
