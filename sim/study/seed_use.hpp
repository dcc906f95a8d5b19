#pragma once

// Whether it matters with which seed a scenario is run. Who uses it: studies, which claim nothing about
// chance where there is none.

#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// Whether another seed gives other requests, or sends them to other replicas. Reads the first requests of
/// the traffic for two seeds: O(1), a trace's rows included. Throws InputError for traffic that cannot be
/// read.
bool depends_on_seed(const Scenario& scenario);

/// The second half of that question: whether a router draws the replicas. O(1).
bool has_drawing_router(const Scenario& scenario);

}  // namespace inferometer
