#include "sim/validation/predict/prediction_interval.hpp"

#include <algorithm>
#include <cmath>

namespace inferometer {

const EngineError& EngineErrors::of(MetricKind kind) const {
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
                                              const EngineError& engine) {
  if (engine.below == 0 && engine.above == 0) {
    return kernels;
  }
  const double below = kernels ? std::max(0.0, predicted - kernels->low) : 0;
  const double above = kernels ? std::max(0.0, kernels->high - predicted) : 0;
  return ValueRange{std::max(0.0, predicted - std::hypot(below, engine.below * predicted)),
                    predicted + std::hypot(above, engine.above * predicted)};
}

}  // namespace inferometer
