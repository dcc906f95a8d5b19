#pragma once

// How long measuring a call takes, before it has been measured. Who uses it: the design of a sweep and its
// --dry-run.

#include "costmodel/kernels/kernel_call.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Seconds that one run of the kernel should take: the datasheet's roofs at a usual efficiency, and a launch.
double expected_run_seconds(const KernelCall& call, const GpuSpec& gpu);

/// Seconds of a whole point: filling its buffers, checking its result, warm-ups and samples with the L2 cache
/// flushed before each. Rough: within a factor of two; a running sweep goes by its own pace.
double expected_point_seconds(const KernelCall& call, const GpuSpec& gpu);

}  // namespace inferometer
