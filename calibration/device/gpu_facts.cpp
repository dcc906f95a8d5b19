#include "calibration/device/gpu_facts.hpp"

#include <array>
#include <stdexcept>
#include <string_view>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/file_hash.hpp"

namespace inferometer {
namespace {

// The oldest architecture that the kernels are built for.
constexpr int kOldestMajor = 8;

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::runtime_error(sentence);
}

void require(cudaError_t error, std::string_view doing, int index) {
  if (error != cudaSuccess) {
    refuse(fmt::format("GPU {} cannot be used: {}: {}", index, doing, cudaGetErrorString(error)));
  }
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, index), "asking for its attributes", index);
  return value;
}

std::string name_of(int index) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, index) == cudaSuccess ? properties.name : "unknown";
}

int count_gpus() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    refuse(
        "no NVIDIA driver: libcuda.so.1 is not there or does not start; kernels can be measured only where a "
        "GPU is");
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    refuse(fmt::format("the NVIDIA driver is too old: it supports CUDA {}, this build needs {}",
                       cuda_version_text(driver), cuda_version_text(CUDART_VERSION)));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    refuse("no GPU: the NVIDIA driver is there, but shows none (CUDA_VISIBLE_DEVICES may hide it)");
  }
  if (error != cudaSuccess) {
    refuse(fmt::format("the NVIDIA driver does not start: {}", cudaGetErrorString(error)));
  }
  return count;
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

GpuFacts open_gpu(int index) {
  const int count = count_gpus();
  if (index < 0 || index >= count) {
    std::string names;
    for (int i = 0; i < count; ++i) {
      names += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, name_of(i));
    }
    refuse(fmt::format("no GPU {}; there {}: {}", index, count == 1 ? "is 1" : fmt::format("are {}", count),
                       names));
  }
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, index), "asking for its properties", index);
  if (properties.major < kOldestMajor) {
    refuse(fmt::format("GPU {} ({}) has compute capability {}.{}; the kernels need {}.0", index,
                       properties.name, properties.major, properties.minor, kOldestMajor));
  }
  require(cudaSetDevice(index), "choosing it", index);
  require(cudaFree(nullptr), "starting CUDA on it", index);
  std::array<char, 32> address{};
  require(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), index),
          "asking for its address", index);
  constexpr double kMhzPerKhz = 1e-3;
  return {.index = index,
          .name = properties.name,
          .uuid_hash = hash_text({properties.uuid.bytes, sizeof properties.uuid.bytes}),
          .pci_address = address.data(),
          .major = properties.major,
          .minor = properties.minor,
          .sm_count = properties.multiProcessorCount,
          .shared_bytes_per_sm = static_cast<int>(properties.sharedMemPerMultiprocessor),
          .l2_bytes = properties.l2CacheSize,
          .hbm_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .boost_mhz = kMhzPerKhz * attribute(cudaDevAttrClockRate, index)};
}

}  // namespace inferometer
