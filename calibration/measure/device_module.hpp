#pragma once

// What the program and the loadable module with the CUDA kernels agree on. The program starts without CUDA;
// only who measures loads the module. Who uses it: open_device.cpp, calibration/device/module.cpp.

#include <cstddef>

#include "calibration/measure/kernel_device.hpp"

namespace inferometer {

inline constexpr const char* kDeviceModuleFile = "inferometer_cuda.so";

/// Raised whenever KernelDevice or a type that it hands over changes: a module of another build is refused,
/// as its memory would be read wrongly.
inline constexpr int kDeviceModuleInterface = 3;

/// The module's one exported function. A new device that the caller deletes; or nullptr, and in `error` (cut
/// to `error_bytes`, always ended by a 0) a sentence that says why. Throws nothing.
inline constexpr const char* kOpenDeviceSymbol = "inferometer_open_device";
using OpenDeviceFunction = KernelDevice* (*)(int interface_version, int index, char* error,
                                             std::size_t error_bytes);

}  // namespace inferometer
