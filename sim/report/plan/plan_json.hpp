#pragma once

#include <string>

#include "sim/report/study_provenance.hpp"
#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
inline constexpr int kPlanSchemaVersion = 1;

/// plan.json: two spaces an indent, a newline at the end, UTF-8. Nothing in it depends on the machine, the
/// locale, the clock or how the study was carried out. sim/report/README.md explains every field.
std::string plan_json(const PlanResult& plan, const StudyProvenance& provenance);

}  // namespace inferometer
