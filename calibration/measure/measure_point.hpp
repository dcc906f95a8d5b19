#pragma once

// One point of a sweep on a device: prepared, compared with its reference, warmed up, timed. Who uses it:
// measure_sweep.hpp.

#include <cstdint>
#include <string>

#include "calibration/measure/kernel_device.hpp"
#include "calibration/measure/loop_controls.hpp"
#include "calibration/measure/point_outcome.hpp"
#include "calibration/measure/stop_rule.hpp"
#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

struct MeasureOptions {
  StopRule stop;

  // Runs that are not timed, before the first sample and after each pause: whichever limit comes first.
  std::int64_t most_warm_ups = 5;
  double most_warm_up_seconds = 0.5;

  // A sample under this share of the device's full SM clock is thrown away, as one during thermal slowdown
  // is, and a pause follows, twice as long for each that is thrown away in a row. 0.75 is NVBench's.
  double least_clock_share = 0.75;
  double first_pause_seconds = 0.25;
  double longest_pause_seconds = 16;
  std::int64_t most_thrown_away_in_a_row = 8;
  std::int64_t most_thrown_away = 64;  ///< of one point
};

/// Warm-ups, stop rule and what is thrown away, for MeasurementHeader::method.
std::string to_string(const MeasureOptions& options);

struct PointResult {
  PointOutcome outcome = PointOutcome::interrupted;
  MeasuredKernel measured = {};  ///< of PointOutcome::measured
  SkippedPoint skipped = {};     ///< of the others that have a record
  std::int64_t thrown_away = 0;
};

/// Returns measured, wrong_result, unsupported, out_of_memory, throttled, or interrupted, after the sample
/// under way, when it must stop. A kernel is not timed before its result was found right: a NaN never is.
/// Inputs depend on the call alone. Throws DeviceLost: also for a time that cannot be one (zero, negative,
/// NaN, infinite), as nothing can be believed of a device that reports it.
PointResult measure_point(KernelDevice& device, const KernelCall& call, const MeasureOptions& options,
                          const LoopControls& controls);

}  // namespace inferometer
