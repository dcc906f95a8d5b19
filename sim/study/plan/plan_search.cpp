#include "sim/study/plan/plan_search.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "sim/study/plan/exploration.hpp"

namespace inferometer {
namespace {

/// What the smallest size that is not excluded costs; nothing when all are.
std::optional<double> least_cost(const ShapeFacts& facts) {
  if (facts.unfit || facts.bound.is_impossible) {
    return std::nullopt;
  }
  const auto first = std::lower_bound(facts.units.begin(), facts.units.end(), facts.bound.least_units);
  return first == facts.units.end() ? std::nullopt
                                    : std::optional(static_cast<double>(*first) * facts.unit.cost);
}

}  // namespace

PlanSearch::PlanSearch(const PlanSpec& spec, const PlanSpace& space, const std::vector<ShapeFacts>& facts)
    : spec_(spec), space_(space), facts_(facts) {
  for (std::size_t shape = 0; shape < facts.size(); ++shape) {
    if (least_cost(facts[shape])) {
      order_.push_back(shape);
    }
  }
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return *least_cost(facts[a]) < *least_cost(facts[b]);
  });
}

std::vector<Evaluation> PlanSearch::wanted(const KnownOutcomes& known) const {
  Exploration exploration(*this, known);
  exploration.run();
  return std::move(exploration.wanted());
}

PlanResult PlanSearch::result(const KnownOutcomes& known) const {
  Exploration exploration(*this, known);
  PlanResult result = exploration.run();
  INFEROMETER_CHECK(exploration.wanted().empty(), "a plan has a result once nothing is wanted");
  return result;
}

}  // namespace inferometer
