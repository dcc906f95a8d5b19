#include "tests/support/plan_here.hpp"

#include <utility>

namespace inferometer::testing {

PlanHere plan_here(const std::string& text) {
  PlanSpec spec = read_plan_tree(read_yaml_text(text, "plan.yaml"), "plan.yaml", {});
  PlanSpace space = make_plan_space(spec);
  const std::vector<ShapeFacts> facts = shape_facts(spec, space, 1);
  const PlanSearch search(spec, space, facts);
  KnownOutcomes known;
  for (std::vector<Evaluation> wanted = search.wanted(known); !wanted.empty();
       wanted = search.wanted(known)) {
    for (const Evaluation& evaluation : wanted) {
      known.add(evaluation, evaluate(space.book.scenario(evaluation), false));
    }
  }
  PlanResult result = search.result(known);
  return {std::move(spec), std::move(space), std::move(result), std::move(known)};
}

}  // namespace inferometer::testing
