#pragma once

#include <string>
#include <vector>

#include "sim/metrics/slo.hpp"
#include "sim/study/plan/plan_result.hpp"
#include "sim/study/plan/plan_search.hpp"

namespace inferometer {

class Exploration;

/// The metric that fronts show for an SLO: that of its first limit on a latency, p99 of E2E without one.
std::string latency_axis(const SloTargets& slo);

/// What happens to the answer when one thing changes: one unit fewer; each key with each of its other values,
/// the number of units as it is; prices of other GPUs at which they would be the answer; limits of the SLO.
/// Asks `exploration` for what it does not know. Precondition: there is an answer, with its assessments.
std::vector<SensitivityRow> sensitivity_of(Exploration& exploration, const PlanSearch& search,
                                           const PlanResult& result);

}  // namespace inferometer
