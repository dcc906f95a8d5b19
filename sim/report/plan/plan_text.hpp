#pragma once

#include <string>

#include "sim/report/study_provenance.hpp"
#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// A plan for a person at a terminal: the answer in sentences, then the shapes, cheapest first, why not the
/// others, the front, what else could have been, and how sure it is. Lines of at most `width` characters (at
/// least 100; names are never cut), a newline at the end, no trailing spaces. `colour`: ANSI colours for
/// headings and verdicts; they change nothing else.
std::string plan_text(const PlanResult& plan, const StudyProvenance& provenance, bool colour,
                      int width = 100);

}  // namespace inferometer
