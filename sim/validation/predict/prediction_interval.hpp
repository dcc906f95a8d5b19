#pragma once

// Between what a prediction lies, for all we know of its errors: the one place where they come together.

#include <optional>

#include "sim/scenario/uncertainty.hpp"
#include "sim/validation/predict/metric_kind.hpp"

namespace inferometer {

struct ValueRange {
  double low = 0, high = 0;
};

/// How far below and above a prediction a measured value may lie for what is not known of the engine, its
/// clients and its host, as shares of the prediction: the ends of a 5 to 95 % interval. 0: kernels alone.
struct EngineError {
  double below = 0, above = 0;
};

/// By kind of metric.
struct EngineErrors {
  EngineError throughput{}, first_token{}, per_token{}, end_to_end{}, other{};

  [[nodiscard]] const EngineError& of(MetricKind kind) const;
};

/// Those of a third, drawn, of 440 published runs away from saturation on H100 (vLLM 0.11 to 0.15,
/// TensorRT-LLM 0.17 and 1.0): quantiles of measured / predicted - 1, 2026-12. A first token often comes
/// later than predicted where clients of fixed lengths go in clumps, and hardly ever sooner. End to end is of
/// two vLLM sets alone.
inline constexpr EngineErrors kEngineErrors{.throughput = {0.12, 0.13},
                                            .first_token = {0.19, 1.77},
                                            .per_token = {0.06, 0.21},
                                            .end_to_end = {0.08, 0.15},
                                            .other = {}};

/// Both errors, taken as independent: on either side of the prediction the distances to the kernels' end and
/// to the engine's add as their squares do. Never below 0. The kernels' interval as it is where the engine
/// has no error; nothing when neither is known. Precondition: predicted >= 0.
std::optional<ValueRange> prediction_interval(double predicted, const std::optional<ValueRange>& kernels,
                                              const EngineError& engine);

}  // namespace inferometer
