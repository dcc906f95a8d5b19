#pragma once

// CUDA's objects with an owner.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>

#include "calibration/device/cuda_check.cuh"

namespace inferometer {

struct DeleteCudaObject {
  void operator()(CUstream_st* stream) const { cudaStreamDestroy(stream); }
  void operator()(CUevent_st* event) const { cudaEventDestroy(event); }
  void operator()(CUgraph_st* graph) const { cudaGraphDestroy(graph); }
};
using OwnedStream = std::unique_ptr<CUstream_st, DeleteCudaObject>;
using OwnedEvent = std::unique_ptr<CUevent_st, DeleteCudaObject>;
using OwnedCapture = std::unique_ptr<CUgraph_st, DeleteCudaObject>;

struct FreeDeviceMemory {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeDeviceMemory>;

struct FreePinnedMemory {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};

/// One that does not wait for the default stream.
inline OwnedStream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return OwnedStream(stream);
}

inline OwnedEvent make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "creating an event");
  return OwnedEvent(event);
}

/// nullptr where the GPU has not so much.
inline DeviceMemory allocate(std::int64_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // taken off the runtime's record
    return nullptr;
  }
  check_cuda(error, "taking memory of the GPU");
  return DeviceMemory(memory);
}

}  // namespace inferometer
