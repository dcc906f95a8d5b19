#include "sim/validation/predict/prediction_interval.hpp"

#include <algorithm>
#include <cmath>

namespace inferometer {

double EngineErrors::of(MetricKind kind) const {
  switch (kind) {
    case MetricKind::throughput:
      return throughput;
    case MetricKind::first_token:
      return first_token;
    case MetricKind::per_token:
      return per_token;
    case MetricKind::end_to_end:
      return end_to_end;
    case MetricKind::other:
      break;
  }
  return other;
}

std::optional<ValueRange> prediction_interval(double predicted, const std::optional<ValueRange>& kernels,
                                              double engine_error) {
  const double engine = engine_error * predicted;
  if (engine == 0) {
    return kernels;
  }
  if (!kernels) {
    return ValueRange{std::max(0.0, predicted - engine), predicted + engine};
  }
  const double middle = (kernels->low + kernels->high) / 2;
  const double half = (kernels->high - kernels->low) / 2;
  const double both = std::sqrt(half * half + engine * engine);
  return ValueRange{std::max(0.0, middle - both), middle + both};
}

}  // namespace inferometer
