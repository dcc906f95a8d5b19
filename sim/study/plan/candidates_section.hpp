#pragma once

#include "sim/study/plan/plan_spec.hpp"

namespace inferometer {

/// The key `candidates` of a plan, into its dimensions, splits and units. Adds every mistake to
/// `diagnostics`.
void read_candidates(PlanSpec& spec, Diagnostics& diagnostics);

}  // namespace inferometer
