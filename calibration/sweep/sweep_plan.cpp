#include "calibration/sweep/sweep_plan.hpp"

namespace inferometer {

double SweepPlan::expected_seconds() const {
  double sum = 0;
  for (const SweepPoint& point : points) {
    sum += point.expected_seconds;
  }
  return sum;
}

}  // namespace inferometer
