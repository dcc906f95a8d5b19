#include "sim/report/plan/plan_view.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// From this share on, of the time in steps, that kernels outside of what was measured took, it is said.
constexpr double kExtrapolatedShareShown = 0.01;
/// So many close calls are told one by one.
constexpr std::size_t kCloseCallsShown = 3;

bool is_sized_in_vain(ShapeFate fate) {
  return fate == ShapeFate::none_meets || fate == ShapeFate::dearer;
}

bool keeps_up(const Assessment& assessment) {
  return assessment.verdict == Verdict::misses_slo || assessment.verdict == Verdict::meets;
}

/// By how near it comes to meeting: what keeps up with the traffic before what does not, then by the target
/// that is missed by most, then by cost.
std::tuple<bool, double, double> distance(const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  const double over = worst != nullptr ? *worst->over : std::numeric_limits<double>::infinity();
  return {!keeps_up(assessment), over, assessment.size.cost};
}

bool has_close_call(const Assessment& assessment) {
  return std::any_of(assessment.targets.begin(), assessment.targets.end(),
                     [](const TargetResult& target) { return target.is_close; });
}

/// The first target that is close.
const TargetResult& close_target(const Assessment& assessment) {
  return *std::find_if(assessment.targets.begin(), assessment.targets.end(),
                       [](const TargetResult& target) { return target.is_close; });
}

void add_close_calls(const PlanResult& plan, std::vector<Caveat>& caveats) {
  const std::vector<CloseCall> calls = close_calls(plan);
  std::size_t told = 0;
  while (told < calls.size() && told < kCloseCallsShown && calls[told].matters) {
    const AssessmentPlace place = calls[told++].place;
    const Assessment& assessment = at(plan, place);
    caveats.push_back(
        {fmt::format("close call: {} of {}: {}; another set of seeds might decide otherwise and "
                     "change the answer",
                     counted(assessment.size.units, "unit"), plan.shapes[place.shape].name,
                     target_sentence(close_target(assessment))),
         true});
  }
  if (calls.size() > told) {
    const std::size_t others = calls.size() - told;
    caveats.push_back(
        {fmt::format("{}{} a limit within the interval of the mean over seeds: another set of seeds might "
                     "decide otherwise of {}",
                     grouped(static_cast<std::int64_t>(others)),
                     others == 1 ? (told > 0 ? " more size has" : " size has")
                                 : (told > 0 ? " more sizes have" : " sizes have"),
                     others == 1 ? "it" : "them"),
         calls[told].matters});
  }
}

/// Of the answer, or of what comes nearest.
void add_extrapolation(const PlanResult& plan, std::vector<Caveat>& caveats) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  const std::optional<AssessmentPlace> place = answer ? answer : nearest_miss(plan);
  if (place && at(plan, *place).extrapolated_share >= kExtrapolatedShareShown) {
    caveats.push_back(
        {fmt::format("{} % of the time in steps of {} went to kernels outside of what was measured",
                     short_number(100 * at(plan, *place).extrapolated_share),
                     answer ? "the answer" : "what comes nearest"),
         true});
  }
}

}  // namespace

const Assessment& at(const PlanResult& plan, AssessmentPlace place) {
  return plan.shapes[place.shape].assessments[place.assessment];
}

std::string json_path(AssessmentPlace place) {
  return fmt::format("shapes.{}.assessments.{}", place.shape, place.assessment);
}

std::optional<AssessmentPlace> answer_place(const PlanResult& plan) {
  return plan.best ? shown_place(plan, *plan.best) : std::nullopt;
}

std::optional<AssessmentPlace> shown_place(const PlanResult& plan, std::size_t shape) {
  const ShapeResult& result = plan.shapes[shape];
  if (result.smallest) {
    return AssessmentPlace{shape, *result.smallest};
  }
  std::optional<AssessmentPlace> largest;
  for (std::size_t i = 0; i < result.assessments.size() && is_sized_in_vain(result.fate); ++i) {
    if (result.assessments[i].verdict != Verdict::meets) {
      largest = AssessmentPlace{shape, i};
    }
  }
  return largest;
}

std::optional<AssessmentPlace> nearest_miss(const PlanResult& plan) {
  std::optional<AssessmentPlace> nearest;
  for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
    for (std::size_t i = 0; i < plan.shapes[shape].assessments.size(); ++i) {
      const AssessmentPlace place{shape, i};
      const bool is_miss =
          at(plan, place).verdict != Verdict::meets && at(plan, place).verdict != Verdict::cannot_run;
      if (is_miss && (!nearest || distance(at(plan, place)) < distance(at(plan, *nearest)))) {
        nearest = place;
      }
    }
  }
  return nearest;
}

std::vector<std::size_t> shapes_that_meet(const PlanResult& plan) {
  std::vector<std::size_t> shapes;
  for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
    if (plan.shapes[shape].smallest) {
      shapes.push_back(shape);
    }
  }
  const auto cost = [&](std::size_t shape) { return at(plan, *shown_place(plan, shape)).size.cost; };
  std::stable_sort(shapes.begin(), shapes.end(), [&](std::size_t a, std::size_t b) {
    // The answer first among those that cost as much.
    return std::pair(cost(a), a != plan.best) < std::pair(cost(b), b != plan.best);
  });
  return shapes;
}

std::vector<FateGroup> shapes_that_do_not(const PlanResult& plan) {
  static constexpr std::array<ShapeFate, 6> kOrder = {ShapeFate::none_meets,   ShapeFate::dearer,
                                                      ShapeFate::bound_dearer, ShapeFate::bound_impossible,
                                                      ShapeFate::too_large,    ShapeFate::does_not_fit};
  std::vector<FateGroup> groups;
  for (const ShapeFate fate : kOrder) {
    FateGroup group{fate, {}};
    for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
      if (plan.shapes[shape].fate == fate && !plan.shapes[shape].smallest) {
        group.shapes.push_back(shape);
      }
    }
    const auto is_nearer = [&](std::size_t a, std::size_t b) {
      const std::optional<AssessmentPlace> first = shown_place(plan, a), second = shown_place(plan, b);
      return first && (!second || distance(at(plan, *first)) < distance(at(plan, *second)));
    };
    if (is_sized_in_vain(fate)) {
      std::stable_sort(group.shapes.begin(), group.shapes.end(), is_nearer);
    }
    if (!group.shapes.empty()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::vector<std::size_t> sized_shapes(const PlanResult& plan) {
  std::vector<std::size_t> shapes = shapes_that_meet(plan);
  for (const FateGroup& group : shapes_that_do_not(plan)) {
    std::copy_if(group.shapes.begin(), group.shapes.end(), std::back_inserter(shapes),
                 [&](std::size_t shape) { return shown_place(plan, shape).has_value(); });
  }
  return shapes;
}

std::vector<std::string> keys_that_vary(const PlanResult& plan) {
  std::vector<std::pair<std::string, std::string>> first;
  std::vector<std::string> keys;
  for (const ShapeResult& shape : plan.shapes) {
    for (const auto& [key, value] : shape.values) {
      const auto known = std::find_if(first.begin(), first.end(),
                                      [&key = key](const auto& each) { return each.first == key; });
      if (known == first.end()) {
        first.emplace_back(key, value);
      } else if (known->second != value && std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
  }
  const auto place = [&](const std::string& key) {
    return std::find_if(first.begin(), first.end(), [&](const auto& each) { return each.first == key; });
  };
  std::sort(keys.begin(), keys.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return keys;
}

std::string short_name(const ShapeResult& shape, std::int64_t units, const std::vector<std::string>& keys) {
  std::string name;
  for (const auto& [key, value] : shape.values) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      name += (name.empty() ? "" : " / ") + value;
    }
  }
  return grouped(units) + " x " + (name.empty() ? shape.name : name);
}

double mean_watts(const Assessment& assessment) {
  return assessment.find("mean_power_watts").value_or(assessment.size.watts);
}

std::vector<CloseCall> close_calls(const PlanResult& plan) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  std::vector<CloseCall> calls;
  for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
    for (std::size_t i = 0; i < plan.shapes[shape].assessments.size(); ++i) {
      const AssessmentPlace place{shape, i};
      if (has_close_call(at(plan, place))) {
        const bool would_be_answer =
            !answer || (keeps_up(at(plan, place)) && at(plan, place).size.cost < at(plan, *answer).size.cost);
        calls.push_back({place, place == answer || would_be_answer});
      }
    }
  }
  std::stable_sort(calls.begin(), calls.end(), [&](const CloseCall& a, const CloseCall& b) {
    return std::pair(a.place != answer, !a.matters) < std::pair(b.place != answer, !b.matters);
  });
  return calls;
}

bool is_saturated(const Assessment& assessment) {
  return assessment.verdict == Verdict::saturated;
}

std::string effort_in_words(const PlanResult& plan) {
  return fmt::format("{} of {}; {} told them apart", counted(plan.candidates, "size"),
                     counted(static_cast<std::int64_t>(plan.shapes.size()), "shape"),
                     counted(plan.evaluations, "run"));
}

std::vector<Caveat> caveats(const PlanResult& plan) {
  std::vector<Caveat> caveats;
  add_close_calls(plan, caveats);
  add_extrapolation(plan, caveats);
  caveats.push_back(
      {plan.seeds == 1
           ? "one seed: nothing is known of how much another sample of the same traffic would differ"
           : fmt::format("values are means over {} seeds; in parentheses the 95 % interval of the mean",
                         grouped(plan.seeds))});
  if (plan.growth != 1) {
    caveats.push_back(
        {fmt::format("sized for {} times the traffic of the study", short_number(plan.growth))});
  }
  caveats.push_back(
      {"that more units of a shape never make it worse is assumed: of its sizes only those that decide are "
       "simulated"});
  return caveats;
}

}  // namespace inferometer
