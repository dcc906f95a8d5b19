#pragma once

// The GPU that kernels are measured on. Who uses it: module.cpp, which hands it to the program.

#include <memory>

#include "calibration/measure/kernel_device.hpp"
#include "calibration/record/kernel_provider.hpp"

namespace inferometer {

/// Opens GPU `index`: takes all but a GiB of its free memory, measures the timer's own share (about half a
/// second). Throws std::runtime_error with one sentence where that cannot be, or where the provider's library
/// is not there.
std::unique_ptr<KernelDevice> open_cuda_device(int index,
                                               KernelProvider provider = KernelProvider::inferometer);

}  // namespace inferometer
