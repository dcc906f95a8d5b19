#include "sim/study/plan/plan_result.hpp"

#include <algorithm>

namespace inferometer {

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::dollars_per_hour:
      return "dollars_per_hour";
    case Objective::gpus:
      return "gpus";
    case Objective::watts:
      return "watts";
  }
  return "";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::meets:
      return "meets";
    case Verdict::misses_slo:
      return "misses_slo";
    case Verdict::saturated:
      return "saturated";
    case Verdict::failed:
      return "failed";
    case Verdict::cannot_run:
      return "cannot_run";
  }
  return "";
}

std::string_view to_string(ShapeFate fate) {
  switch (fate) {
    case ShapeFate::meets:
      return "meets";
    case ShapeFate::none_meets:
      return "none_meets";
    case ShapeFate::dearer:
      return "dearer";
    case ShapeFate::bound_dearer:
      return "bound_dearer";
    case ShapeFate::bound_impossible:
      return "bound_impossible";
    case ShapeFate::too_large:
      return "too_large";
    case ShapeFate::does_not_fit:
      return "does_not_fit";
  }
  return "";
}

std::optional<double> Assessment::find(std::string_view metric) const {
  const auto found = std::find_if(means.begin(), means.end(),
                                  [metric](const HeadlineMetric& each) { return each.name == metric; });
  return found == means.end() ? std::nullopt : found->value;
}

const TargetResult* Assessment::worst() const {
  const TargetResult* worst = nullptr;
  for (const TargetResult& target : targets) {
    if (target.over && (worst == nullptr || *target.over > *worst->over)) {
      worst = &target;
    }
  }
  return worst;
}

}  // namespace inferometer
