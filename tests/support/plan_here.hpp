#pragma once

// A plan carried out in this process, one run after the other.

#include <string>

#include "sim/study/plan/plan_search.hpp"

namespace inferometer::testing {

struct PlanHere {
  PlanSpec spec;
  PlanSpace space;
  PlanResult result;
  KnownOutcomes known;  ///< of every run that was made
};

/// `text`: a plan's file. Throws what a plan throws.
PlanHere plan_here(const std::string& text);

}  // namespace inferometer::testing
