// cuDNN itself is asked whether it has a kernel for our graph: it can be, for a GPU that is only described.

#include "calibration/device/cudnn_attention.hpp"

#include <array>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

/// As cuDNN describes a GPU, by NVIDIA's data sheets and CUDA's table of technical specifications.
std::string gpu_description(const char* name, int capability, int sms, int shared_bytes_of_block,
                            double bytes, int l2_bytes) {
  return fmt::format(
      R"({{"deviceName":"{}","deviceVer":{},"multiProcessorCount":{},"maxSharedMemoryPerBlockOptin":{},)"
      R"("totalGlobalMem":{:.0f},"l2CacheSize":{},"maxGridSize":[2147483647,65535,65535],)"
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)"
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"smClockRateKHz":1980000,"memClockRateKHz":2619000,"cudaDeviceId":0,)"
      R"("driverVer":13000}})",
      name, capability, sms, shared_bytes_of_block, bytes, l2_bytes);
}

std::string h100() {
  return gpu_description("NVIDIA H100 80GB HBM3", 900, 132, 232448, 85e9, 52428800);
}

std::string a100() {
  return gpu_description("NVIDIA A100-SXM4-80GB", 800, 108, 166912, 85e9, 41943040);
}

/// nullptr, and a line that says why, where cuDNN is not installed.
std::unique_ptr<Cudnn> cudnn_for(const std::string& gpu) {
  try {
    return std::make_unique<Cudnn>(gpu.c_str());
  } catch (const CudnnError& missing) {
    std::cout << "skipped: " << missing.what() << "\n";
    return nullptr;
  }
}

/// "" where there is a plan, or only the driver is missing, which loads it: cuDNN then has understood the
/// graph and found an engine.
std::string refusal(const Cudnn& cudnn, const EqualPrefill& shape) {
  try {
    const CudnnAttention attention(cudnn, shape);
    CHECK(attention.workspace_bytes() >= 0);
    return "";
  } catch (const CudnnError& error) {
    std::array<char, 4096> details{};
    cudnn.functions().last_error(details.data(), details.size());
    const std::string said = details.data();
    return said.find("libcuda == nullptr") != std::string::npos ? "" : error.what() + (": " + said);
  }
}

constexpr EqualPrefill kPlain{
    .batch = 2, .tokens = 300, .past = 0, .heads = 8, .kv_heads = 2, .head_dim = 128};
constexpr EqualPrefill kChunk{
    .batch = 1, .tokens = 129, .past = 500, .heads = 4, .kv_heads = 4, .head_dim = 64};
constexpr EqualPrefill kWindow{
    .batch = 1, .tokens = 700, .past = 100, .heads = 4, .kv_heads = 1, .head_dim = 128, .window = 256};

TEST_CASE("cuDNN has an engine for our graph with and without past and window", "[cudnn]") {
  for (const std::string& gpu : {h100(), a100()}) {
    const std::unique_ptr<Cudnn> cudnn = cudnn_for(gpu);
    if (cudnn == nullptr) {
      return;
    }
    for (const EqualPrefill& shape : {kPlain, kChunk, kWindow}) {
      INFO(gpu << ", past " << shape.past << ", window " << shape.window);
      CHECK(refusal(*cudnn, shape).empty());
    }
  }
}

TEST_CASE("a GPU before tensor cores of bf16 is refused with what cuDNN says", "[cudnn]") {
  const std::unique_ptr<Cudnn> cudnn = cudnn_for(gpu_description("NVIDIA T4", 750, 40, 65536, 16e9, 4194304));
  if (cudnn == nullptr) {
    return;
  }
  const std::string said = refusal(*cudnn, kPlain);
  INFO(said);
  CHECK(said.starts_with("cuDNN"));
}

TEST_CASE("the version of cuDNN is in three parts", "[cudnn]") {
  const std::unique_ptr<Cudnn> cudnn = cudnn_for(h100());
  if (cudnn == nullptr) {
    return;
  }
  const std::size_t version = cudnn->functions().version();
  CHECK(cudnn_version(*cudnn) ==
        fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100));
}

TEST_CASE("a missing or wrong library is named", "[cudnn]") {
  const auto refused = [](const char* library) -> std::string {
    try {
      const Cudnn cudnn("{}", library);
    } catch (const CudnnError& error) {
      return error.what();
    }
    return "opened";
  };
  check_says(refused("libcudnn_that_is_absent.so"),
             {"cuDNN 9 is not installed", "libcudnn_that_is_absent.so"});
  check_says(refused("libm.so.6"), {"it has no cudnnGetVersion"});
}

}  // namespace
}  // namespace inferometer
