#pragma once

// A GPU to measure on. Who uses it: `calibrate run`.

#include <memory>

#include "calibration/measure/kernel_device.hpp"
#include "calibration/record/kernel_provider.hpp"

namespace inferometer {

/// GPU `index`, counted as CUDA counts the visible ones, by the CUDA module, which is looked for as
/// base/loadable_module.hpp says; $INFEROMETER_CUDA_MODULE may name it. A device measures one provider's
/// kernels: what that lacks is unsupported. Throws ConfigError with one sentence where there is no module, no
/// driver, no such GPU, or not the provider's library.
std::unique_ptr<KernelDevice> open_device(int index, KernelProvider provider = KernelProvider::inferometer);

}  // namespace inferometer
