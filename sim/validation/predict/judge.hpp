#pragma once

// How far predictions are from measurements.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/measured_run.hpp"
#include "sim/validation/predict/predict.hpp"

namespace inferometer {

/// A measured value and what was predicted of it.
struct JudgedValue {
  std::size_t run = 0;  ///< its place
  std::string metric;
  double measured = 0;
  double predicted = 0;
  std::optional<ValueRange> range;
  double error = 0;         ///< predicted / measured - 1
  bool is_counted = false;  ///< in the summary: not a latency of a saturated run
};

/// Of one metric of the runs of a group, apart for those below saturation and those at or past it.
struct JudgedGroup {
  std::string group;
  bool is_saturated = false;
  std::string metric;
  std::int64_t count = 0;
  double median_error = 0, mean_error = 0, p90_error = 0;  ///< of |error|
  double bias = 0;                                         ///< mean of error
  std::optional<double> within_interval;  ///< share of measured values; absent unless all have intervals
};

/// A run, or one value of it, without a prediction.
struct UnpredictedValue {
  std::size_t run = 0;
  std::string metric;  ///< "": the whole run
  std::string reason;
};

struct Judgement {
  std::vector<JudgedValue> values;        ///< in the order of runs and of their values
  std::vector<JudgedGroup> groups;        ///< by group, then saturation, then metric
  std::vector<UnpredictedValue> missing;  ///< in the order of runs and of their values
};

/// Preconditions: a prediction for each run; measured values above 0. Groups in the order in which they first
/// occur, metrics in that of headline_metrics(), kLoneTtft last. O(n log n).
Judgement judge(const std::vector<MeasuredRun>& runs, const std::vector<Prediction>& predictions);

}  // namespace inferometer
