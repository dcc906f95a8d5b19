#pragma once

// A GPU that is none: CUDA's runtime as far as the device of calibration uses it, over host memory and with a
// clock that only what is queued moves. It is linked instead of the CUDA runtime.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::testing {

/// All GPUs are alike, an H100 in name, and their work is done at once in the order in which it is queued.
struct HostGpus {
  int gpus = 1;
  int driver_version = 13000;  ///< 0: no driver
  int major = 9;
  std::int64_t free_bytes = std::int64_t{1536} << 20;
  std::int64_t largest_piece = std::int64_t{1} << 40;  ///< that can be allocated
  std::int64_t now_ns = 1'000'000;
  double clock_mhz = 1500;
  std::map<std::string, std::int64_t> duration_ns;  ///< of kernels by name; others take kOtherKernelNs
  cudaError_t next_error = cudaSuccess;             ///< of the next synchronisation
  bool is_logging = false;
  std::vector<std::string> log;  ///< kernels and events in order

  static constexpr std::int64_t kOtherKernelNs = 10'000;
  static constexpr std::int64_t kGraphStartNs = 2'300;
  static constexpr std::int64_t kEventNs = 700;
  static constexpr std::int64_t kEmptyKernelNs = 1'100;
  static constexpr std::int64_t kFlushNs = 90'000;
};

HostGpus& host_gpus();

/// Does the work of a kernel, now or whenever the graph that is being captured runs.
kernels::LaunchResult queue(const std::string& name, std::function<void()> work);

}  // namespace inferometer::testing
