#pragma once

// A GPU to measure on. Who uses it: `calibrate run`.

#include <memory>

#include "calibration/measure/kernel_device.hpp"
#include "calibration/record/kernel_provider.hpp"

namespace inferometer {

/// GPU `index`, counted as CUDA counts the visible ones. Loads the CUDA module, from the first of these:
///  1. $INFEROMETER_CUDA_MODULE,
///  2. beside the running program (a build tree),
///  3. lib/inferometer under the prefix the program was installed to, wherever that was moved.
/// The module stays loaded until the program ends: devices and exceptions that come from it have their code
/// there. A device measures one provider's kernels: what that lacks is unsupported. Throws ConfigError with
/// one sentence where there is no module, no driver, no such GPU, or not the provider's library.
std::unique_ptr<KernelDevice> open_device(int index, KernelProvider provider = KernelProvider::inferometer);

}  // namespace inferometer
