#pragma once

// A plan carried out in this process, one run after the other.

#include <map>
#include <string>

#include "sim/study/plan/plan_search.hpp"

namespace inferometer::testing {

/// Runs evaluations of a book, each once.
class RunsHere {
 public:
  explicit RunsHere(const StudyBook& book) : book_(book) {}

  const Outcome& outcome(const Evaluation& evaluation);
  [[nodiscard]] const KnownOutcomes& known() const { return known_; }

 private:
  const StudyBook& book_;
  std::map<std::int64_t, Deployment> deployments_;
  KnownOutcomes known_;
};

struct PlanHere {
  PlanSpec spec;
  PlanSpace space;
  PlanResult result;
  std::int64_t runs = 0;  ///< that were made
};

/// `text`: a plan's file. Throws what a plan throws.
PlanHere plan_here(const std::string& text);

/// What the least deployment that meets the SLO costs, found by running every size of every shape that can
/// run at all; nothing when none does.
std::optional<double> least_cost_of_all(const std::string& text);

}  // namespace inferometer::testing
