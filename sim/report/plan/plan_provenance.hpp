#pragma once

#include "sim/report/study_provenance.hpp"
#include "sim/study/plan/plan_space.hpp"
#include "sim/study/plan/plan_spec.hpp"

namespace inferometer {

/// Where a plan comes from. Hashes the inputs of every shape; throws ConfigError for those that can no longer
/// be read.
StudyProvenance plan_provenance(const PlanSpec& spec, const PlanSpace& space);

}  // namespace inferometer
