#include <cuda_runtime.h>

#include "calibration/device/timer_kernels.hpp"
#include "kernels/common/launch_check.cuh"

namespace inferometer {
namespace {

__device__ std::int64_t nanoseconds_now() {
  std::int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void empty_kernel() {
}

__global__ void stamp_kernel(ClockStamp* stamps) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm < kStampedSms) {
    stamps[sm] = {clock64(), nanoseconds_now()};
  }
}

/// A sum that nobody asks for, stored where it cannot be: the loads stay.
__global__ void read_kernel(const uint4* buffer, std::int64_t vectors, unsigned* never_written) {
  unsigned sum = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors;
       i += step) {
    const uint4 vector = buffer[i];
    sum |= vector.x | vector.y | vector.z | vector.w;
  }
  if (sum != 0) {
    *never_written = sum;
  }
}

__global__ void hold_kernel(std::int64_t nanoseconds) {
  const std::int64_t begin = nanoseconds_now();
  while (nanoseconds_now() - begin < nanoseconds) {
  }
}

}  // namespace

kernels::LaunchResult launch_empty(int count, kernels::Stream stream) {
  for (int i = 0; i < count; ++i) {
    empty_kernel<<<1, 32, 0, stream>>>();
  }
  return kernels::launched();
}

kernels::LaunchResult launch_stamps(ClockStamp* stamps, int sm_count, kernels::Stream stream) {
  // As many blocks as SMs: an idle GPU deals the first round of blocks one to an SM.
  stamp_kernel<<<static_cast<unsigned>(sm_count), 1, 0, stream>>>(stamps);
  return kernels::launched();
}

kernels::LaunchResult launch_l2_flush(void* buffer, std::int64_t bytes, int sm_count,
                                      kernels::Stream stream) {
  if (const cudaError_t error = cudaMemsetAsync(buffer, 0, static_cast<std::size_t>(bytes), stream);
      error != cudaSuccess) {
    return kernels::result_of(error);
  }
  constexpr int kThreads = 256;
  constexpr int kBlocksOfSm = 8;  // 2048 threads, all that an SM holds
  read_kernel<<<static_cast<unsigned>(sm_count * kBlocksOfSm), kThreads, 0, stream>>>(
      static_cast<const uint4*>(buffer), bytes / static_cast<std::int64_t>(sizeof(uint4)),
      static_cast<unsigned*>(buffer));
  return kernels::launched();
}

kernels::LaunchResult launch_hold(std::int64_t nanoseconds, kernels::Stream stream) {
  hold_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return kernels::launched();
}

}  // namespace inferometer
