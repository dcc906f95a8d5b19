#pragma once

// What `inferometer calibrate run` prints of a sweep before and after.

#include <string>

#include "calibration/measure/measure_sweep.hpp"
#include "calibration/sweep/sweep_plan.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Points, held-out points, bytes and FLOPs of one run of each, and expected time by kind of kernel.
std::string plan_text(const SweepPlan& plan, const GpuSpec& gpu);

/// How a sweep ended and what became of its points.
std::string sweep_text(const SweepResult& result, const SweepPlan& plan);

}  // namespace inferometer
