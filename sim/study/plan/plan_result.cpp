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

}  // namespace inferometer
