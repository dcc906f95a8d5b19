#include "tests/support/plan_here.hpp"

#include <algorithm>
#include <utility>

#include "sim/study/plan/assessment.hpp"

namespace inferometer::testing {
namespace {

PlanSpec spec_of(const std::string& text) {
  return read_plan_tree(read_yaml_text(text, "plan.yaml"), "plan.yaml", {});
}

}  // namespace

const Outcome& RunsHere::outcome(const Evaluation& evaluation) {
  if (known_.find(evaluation) == nullptr) {
    const Scenario scenario = book_.scenario(evaluation);
    const auto sibling = deployments_.find(evaluation.study_case);
    const Deployment& deployment =
        deployments_
            .insert_or_assign(
                evaluation.study_case,
                make_deployment(scenario, sibling == deployments_.end() ? nullptr : &sibling->second))
            .first->second;
    known_.add(evaluation, evaluate(scenario, deployment));
  }
  return *known_.find(evaluation);
}

PlanHere plan_here(const std::string& text) {
  PlanSpec spec = spec_of(text);
  PlanSpace space = make_plan_space(spec);
  const std::vector<ShapeFacts> facts = shape_facts(spec, space, 1);
  const PlanSearch search(spec, space, facts);
  RunsHere runs(space.book);
  for (std::vector<Evaluation> wanted = search.wanted(runs.known()); !wanted.empty();
       wanted = search.wanted(runs.known())) {
    for (const Evaluation& evaluation : wanted) {
      runs.outcome(evaluation);
    }
  }
  PlanResult result = search.result(runs.known());
  return {std::move(spec), std::move(space), std::move(result), runs.known().size()};
}

std::optional<double> least_cost_of_all(const std::string& text) {
  PlanSpec spec = spec_of(text);
  spec.prune = false;
  const PlanSpace space = make_plan_space(spec);
  const std::vector<ShapeFacts> facts = shape_facts(spec, space, 1);
  RunsHere runs(space.book);
  std::optional<double> least;
  for (std::size_t shape = 0; shape < facts.size(); ++shape) {
    if (facts[shape].unfit) {
      continue;
    }
    const Scenario& scenario = space.book.scenario(static_cast<std::int64_t>(shape));
    for (const std::int64_t units : facts[shape].units) {
      Evaluation evaluation;
      evaluation.study_case = static_cast<std::int64_t>(shape);
      evaluation.assignments = size_assignments(space.shapes[shape], units);
      for (const std::string& rate : rate_assignments(scenario, spec.growth)) {
        evaluation.assignments.push_back(rate);
      }
      std::vector<const Outcome*> outcomes;
      for (std::int64_t seed = 0; seed < space.seeds; ++seed) {
        evaluation.seed = static_cast<std::int64_t>(scenario.seed()) + seed;
        outcomes.push_back(&runs.outcome(evaluation));
      }
      const Size size = size_of(scenario, units, spec.objective);
      if (assess(outcomes, size, 1, spec.failed_max).verdict == Verdict::meets) {
        least = std::min(least.value_or(size.cost), size.cost);
      }
    }
  }
  return least;
}

}  // namespace inferometer::testing
