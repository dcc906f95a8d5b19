#pragma once

// From CUDA's error codes to exceptions. After an error that is not about one call's sizes the context is not
// to be trusted, so that all others are a lost device.

#include <string>

#include <cuda_runtime_api.h>

#include "calibration/measure/kernel_device.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// Throws DeviceLost, with what was being done, "reading the result".
inline void check_cuda(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) {
    throw DeviceLost(std::string(doing) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) +
                     ")");
  }
}

/// For launches that cannot be refused.
inline void check_launch(const kernels::LaunchResult& result, const char* doing) {
  if (!result.ok()) {
    throw DeviceLost(std::string(doing) + ": " + result.reason);
  }
}

}  // namespace inferometer
