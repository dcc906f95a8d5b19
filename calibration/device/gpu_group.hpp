#pragma once

// Several GPUs of this machine that run a collective together, driven by one thread. Rank 0 is the GPU that
// is measured on; the others give it a stream, a piece of memory and a buffer to flush their L2 cache with.
// Who uses it: cuda_device.cpp keeps the last one, collective_runner.cpp runs on it.

#include <cstdint>
#include <memory>
#include <vector>

#include "calibration/device/arena.hpp"
#include "calibration/device/nccl.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// Makes a GPU the current one until the end of the scope, then the one before again.
class CurrentGpu {
 public:
  explicit CurrentGpu(int device);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_ = 0;
};

class GpuGroup {
 public:
  struct Rank {
    int device = 0;
    kernels::Stream stream = nullptr;
    Arena* arena = nullptr;  ///< nullptr of rank 0, which has the device's own
    void* flush_buffer = nullptr;
    std::int64_t flush_bytes = 0;  ///< 0 of rank 0, which the timer flushes
    int sm_count = 0;
  };

  /// Connects `device` and the next ones, by NCCL too where it is there. Throws NotPrepared where there are
  /// not so many or one has too little memory, DeviceLost.
  GpuGroup(int device, kernels::Stream stream, int gpus);
  ~GpuGroup();
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;

  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }

  /// Throws NotPrepared where there is no NCCL.
  Nccl& nccl();

 private:
  struct Peer;
  std::vector<std::unique_ptr<Peer>> peers_;  // ranks 1, 2, ...
  std::vector<Rank> ranks_;
  std::unique_ptr<Nccl> nccl_;
};

/// The last group, as making one takes seconds and a sweep asks for one size many times.
class GpuGroups {
 public:
  GpuGroups(int device, kernels::Stream stream) : device_(device), stream_(stream) {}
  GpuGroup& of(int gpus);

 private:
  int device_;
  kernels::Stream stream_;
  std::unique_ptr<GpuGroup> last_;
};

}  // namespace inferometer
