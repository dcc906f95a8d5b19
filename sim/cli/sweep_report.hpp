#pragma once

// What `inferometer calibrate run` prints of a sweep before and after.

#include <string>
#include <vector>

#include "calibration/measure/measure_sweep.hpp"
#include "calibration/record/measurement.hpp"
#include "calibration/sweep/sweep_plan.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Points, held-out points, bytes and FLOPs of one run of each, and expected time by kind of kernel.
std::string plan_text(const SweepPlan& plan, const GpuSpec& gpu);

/// How a sweep ended and what became of its points.
std::string sweep_text(const SweepResult& result, const SweepPlan& plan);

/// Which records a profile is not fitted to, and why: by outcome, and those faster than the GPU can be, each
/// with its number and its first. "" when there are none.
std::string left_out_text(const std::vector<Measurements>& measured);

}  // namespace inferometer
