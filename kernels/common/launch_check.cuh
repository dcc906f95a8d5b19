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

/// Lets a kernel's blocks have so much dynamic shared memory, and asks that the multiprocessor gives shared
/// memory all that it can for as many of them as fit, rather than the L1 cache. Makes the device's context
/// current where none was.
template <class Kernel>
LaunchResult give_shared_memory(Kernel* kernel, int bytes) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess) {
    error = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared);
  }
  return result_of(error);
}

/// What the launch just queued says. A launch error is taken off the runtime's record.
inline LaunchResult launched() {
  return result_of(cudaGetLastError());
}

}  // namespace inferometer::kernels
