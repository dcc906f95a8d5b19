#pragma once

#include "sim/report/page/page.hpp"
#include "sim/report/study_provenance.hpp"
#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// A plan's report.html: the answer and its key figures, cost against latency, what each shape carries and
/// costs, where its time goes, why not the others, what else could have been, how sure it is. Numbers of
/// tables and key figures name their fields in plan.json.
Page plan_page(const PlanResult& plan, const StudyProvenance& provenance);

}  // namespace inferometer
