#pragma once

// What CUDA says of a GPU, and why one cannot be used. Who uses it: cuda_device.cpp.

#include <cstdint>
#include <string>

namespace inferometer {

struct GpuFacts {
  int index = 0;
  std::string name;          ///< "NVIDIA H100 80GB HBM3"
  std::string uuid_hash;     ///< "sha256:..."
  std::string pci_address;   ///< "0000:17:00.0"
  int major = 0, minor = 0;  ///< compute capability
  int sm_count = 0;
  int shared_bytes_per_sm = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t hbm_bytes = 0;
  double boost_mhz = 0;  ///< highest SM clock of the product
};

/// Throws std::runtime_error with one sentence where there is no driver, the driver is too old, there is no
/// such GPU, or the kernels are not for it. Makes the GPU the current one of this thread.
GpuFacts open_gpu(int index);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace inferometer
