// The one function that the loadable module exports.

#include <cstddef>
#include <cstdio>
#include <exception>

#include "calibration/device/cuda_device.hpp"
#include "calibration/measure/device_module.hpp"

extern "C" __attribute__((visibility("default"))) inferometer::KernelDevice* inferometer_open_device(
    int interface_version, int index, inferometer::KernelProvider provider, char* error,
    std::size_t error_bytes) {
  if (interface_version != inferometer::kDeviceModuleInterface) {
    std::snprintf(error, error_bytes,
                  "the CUDA module is of another build than the program; build both anew");
    return nullptr;
  }
  try {
    return inferometer::open_cuda_device(index, provider).release();
  } catch (const std::exception& why) {
    std::snprintf(error, error_bytes, "%s", why.what());
    return nullptr;
  }
}
