#include <stdexcept>

#include <cuda_runtime_api.h>

#include "tests/cuda/pinned_array.hpp"

namespace inferometer::test {

PinnedArray::PinnedArray(std::size_t bytes) {
  if (const cudaError_t error = cudaMallocHost(&data_, bytes); error != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(error));
  }
}

PinnedArray::~PinnedArray() {
  cudaFreeHost(data_);
}

}  // namespace inferometer::test
