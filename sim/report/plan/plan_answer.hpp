#pragma once

// The answer of a plan in two or three sentences: what both its terminal text and its page begin with.

#include <string>
#include <vector>

#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// What to buy, what it costs, how near it is to the limits, and how much more traffic it carries; or that no
/// candidate meets the SLO, what comes nearest, by how much it misses and why. A sentence or two an entry.
std::vector<std::string> answer_sentences(const PlanResult& plan);

}  // namespace inferometer
