#include <stdexcept>

#include <cuda_runtime_api.h>

#include "tests/cuda/gpu_array.hpp"

namespace inferometer::test {
namespace {

void require(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(error));
  }
}

}  // namespace

std::string gpu_missing() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  return count == 0 ? "no GPU" : "";
}

void wait_for_gpu() {
  require(cudaDeviceSynchronize());
}

GpuArray::GpuArray(std::size_t bytes) : bytes_(bytes) {
  require(cudaMalloc(&data_, bytes));
  require(cudaMemset(data_, 0xff, bytes));
}

GpuArray::GpuArray(const void* source, std::size_t bytes) : GpuArray(bytes) {
  require(cudaMemcpy(data_, source, bytes, cudaMemcpyHostToDevice));
}

GpuArray::~GpuArray() {
  cudaFree(data_);
}

void GpuArray::copy_to(void* target) const {
  require(cudaMemcpy(target, data_, bytes_, cudaMemcpyDeviceToHost));
}

}  // namespace inferometer::test
