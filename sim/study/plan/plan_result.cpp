#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

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
      break;
  }
  return "cannot_run";
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
      break;
  }
  return "does_not_fit";
}

}  // namespace inferometer
