#pragma once

// From CUDA's error codes to ours.

#include <cuda_runtime_api.h>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

inline LaunchResult result_of(cudaError_t error) {
  if (error == cudaSuccess) {
    return {};
  }
  return {error == cudaErrorMemoryAllocation ? KernelStatus::out_of_memory : KernelStatus::failed,
          cudaGetErrorString(error)};
}

/// What the launch just queued says. A launch error is taken off the runtime's record.
inline LaunchResult launched() {
  return result_of(cudaGetLastError());
}

}  // namespace inferometer::kernels
