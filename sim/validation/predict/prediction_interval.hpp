#pragma once

// Between what a prediction lies, for all we know of its errors: the one place where they come together.

#include <optional>

#include "sim/scenario/uncertainty.hpp"
#include "sim/validation/predict/metric_kind.hpp"

namespace inferometer {

struct ValueRange {
  double low = 0, high = 0;
};

/// How far an engine may be from its model beyond what its kernels explain, as a share of the prediction:
/// half of the width of a 5 to 95 % interval, by kind of metric. 0: kernels alone.
struct EngineErrors {
  double throughput = 0, first_token = 0, per_token = 0, end_to_end = 0, other = 0;

  [[nodiscard]] double of(MetricKind kind) const;
};

/// Both errors, taken as independent: half-widths add as their squares do, around the middle of the kernels'
/// interval, or around the prediction where kernels have none. Never below 0. Nothing when neither is known.
/// Preconditions: predicted >= 0, engine_error >= 0.
std::optional<ValueRange> prediction_interval(double predicted, const std::optional<ValueRange>& kernels,
                                              double engine_error);

}  // namespace inferometer
