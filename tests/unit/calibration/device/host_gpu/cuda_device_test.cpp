// The device of calibration from opening to a lost GPU, on a GPU that is none (host_cuda.hpp).

#include "calibration/device/cuda_device.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/calibration/device/host_gpu/fault.hpp"
#include "tests/unit/calibration/device/host_gpu/host_cuda.hpp"

namespace inferometer {
namespace {

using testing::Fault;
using testing::host_gpus;
using testing::HostGpus;

constexpr std::uint64_t kSeed = 5;

/// A fresh machine, with the settings of HostGpus until a case changes them.
class Machine {
 public:
  Machine() { host_gpus() = HostGpus{}; }
  ~Machine() {
    host_gpus() = HostGpus{};
    testing::set_fault(Fault::none);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

KernelCall call_of(KernelFamily family, std::string variant, std::vector<double> axes) {
  KernelCall call{.family = family, .variant = std::move(variant)};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

KernelCall copy_call() {
  return call_of(KernelFamily::elementwise, "copy", {16, 64});
}

std::string refusal(int index) {
  try {
    open_cuda_device(index);
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "opened";
}

template <class Function>
std::string lost(const Function& function) {
  try {
    function();
  } catch (const DeviceLost& why) {
    return why.what();
  }
  return "not lost";
}

TEST_CASE("a GPU that cannot be used is refused in one sentence", "[cuda_device]") {
  const Machine machine;
  host_gpus().driver_version = 0;
  check_says(refusal(0), {"no NVIDIA driver"});
  host_gpus().driver_version = 11040;
  check_says(refusal(0), {"the NVIDIA driver is too old: it supports CUDA 11.4, this build needs "});
  host_gpus().driver_version = 13000;
  host_gpus().gpus = 0;
  check_says(refusal(0), {"no GPU: ", "CUDA_VISIBLE_DEVICES"});
  host_gpus().gpus = 2;
  CHECK(refusal(3) == "no GPU 3; there are 2: 0 NVIDIA H100 80GB HBM3, 1 NVIDIA H100 80GB HBM3");
  CHECK(refusal(-1) == "no GPU -1; there are 2: 0 NVIDIA H100 80GB HBM3, 1 NVIDIA H100 80GB HBM3");
  host_gpus().gpus = 1;
  CHECK(refusal(1) == "no GPU 1; there is 1: 0 NVIDIA H100 80GB HBM3");
  host_gpus().major = 7;
  CHECK(refusal(0) == "GPU 0 (NVIDIA H100 80GB HBM3) has compute capability 7.0; the kernels need 8.0");
  host_gpus().major = 9;
  host_gpus().free_bytes = std::int64_t{1279} << 20;
  CHECK(refusal(0) == "the GPU has 1279 MiB free; measuring takes 1280 MiB at the least");
}

TEST_CASE("all but a GiB of the memory is taken in the largest piece there is", "[cuda_device]") {
  const Machine machine;
  CHECK(open_cuda_device(0)->memory_bytes() == 512.0 * (1 << 20));
  // 512 MiB are not there in one piece, nor are 448; 392 are.
  host_gpus().largest_piece = std::int64_t{400} << 20;
  CHECK(open_cuda_device(0)->memory_bytes() == 392.0 * (1 << 20));
}

TEST_CASE("the header says what the GPU and the build are", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  const MeasurementHeader header = device->header();
  CHECK(header.gpu == "h100-sxm");
  CHECK(header.device == "NVIDIA H100 80GB HBM3");
  CHECK(header.library == "inferometer");
  CHECK(header.compute_capability == "9.0");
  CHECK(header.cublas_version == "13.0.1");
  CHECK(header.cuda_runtime_version ==
        std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10));
  CHECK(header.sm_count == 132);
  CHECK(header.l2_bytes == 50.0 * (1 << 20));
  CHECK(header.source_hash.size() == std::string("sha256:").size() + 64);
  // Sixteen bytes 7, by sha256sum.
  CHECK(header.uuid_hash ==
        "sha256:"
        "d761d406af2a4a5a15f67c924378ed88d1f85c13f1a37fc7366f59789b3bcd65");
  CHECK(header.utc.size() == std::string("2026-11-30T05:40:00Z").size());
  // Nothing holds the fake down, and yet it runs at 1500 of 1980 MHz: as with locked clocks.
  CHECK(device->full_sm_mhz() == Approx(1500));
  CHECK(header.clocks == "held at 1500 MHz of 1980");

  host_gpus().clock_mhz = 1950;
  const auto free = open_cuda_device(0);
  CHECK(free->header().clocks == "up to 1980 MHz");
  CHECK(free->full_sm_mhz() == Approx(1950));
}

TEST_CASE("a call of every family is ready and verified and timed without the timer's share",
          "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  struct Timed {
    KernelCall call;
    std::string kernel;
  };
  const std::vector<Timed> cases = {
      {call_of(KernelFamily::gemm, "bf16", {20, 16, 32}), "gemm_1"},
      {call_of(KernelFamily::prefill_attention, "bf16", {1, 9, 3, 2, 1, 64, 0}), "prefill_attention"},
      {call_of(KernelFamily::decode_attention, "bf16", {2, 20, 2, 1, 64, 0}), "decode_attention"},
      {call_of(KernelFamily::elementwise, "norm", {3, 64}), "rms_norm"},
      {call_of(KernelFamily::elementwise, "add_norm", {3, 64}), "rms_norm"},
      {copy_call(), "device_copy"},
  };
  for (const Timed& timed : cases) {
    INFO(to_string(timed.call));
    host_gpus().duration_ns["gemm_2"] = 50'000;
    host_gpus().duration_ns[timed.kernel] = 12'345;
    const Prepared prepared = device->prepare(timed.call, kSeed);
    REQUIRE(prepared.outcome == Prepared::Outcome::ready);
    CHECK_FALSE(prepared.kernel.empty());
    const Verification verification = device->verify();
    INFO(verification.first_wrong);
    CHECK(verification.passed);
    for (const std::int64_t nanoseconds : {12'345, 1'000, 2'000'000}) {
      host_gpus().duration_ns[timed.kernel] = nanoseconds;
      const TimedRun run = device->run();
      CHECK(run.seconds * 1e9 == Approx(static_cast<double>(nanoseconds)).epsilon(1e-3));
      CHECK(run.sm_mhz == Approx(1500));
    }
  }
}

TEST_CASE("a run flushes the cache and has nothing but the kernel between its events", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  device->prepare(copy_call(), kSeed);
  host_gpus().is_logging = true;
  device->run();
  CHECK(host_gpus().log ==
        std::vector<std::string>{"stamps", "l2_flush", "event", "device_copy", "event", "stamps"});
}

TEST_CASE("a wrong kernel is found by what is timed", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  device->prepare(copy_call(), kSeed);
  testing::set_fault(Fault::leaves_last_output);
  const Verification verification = device->verify();
  CHECK_FALSE(verification.passed);
  CHECK(std::isnan(verification.worst_error));
}

TEST_CASE("what cannot be prepared says why and the device goes on", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  const Prepared unsupported =
      device->prepare(call_of(KernelFamily::moe, "bf16", {1, 1, 1, 1, 1, 1, 1}), kSeed);
  CHECK(unsupported.outcome == Prepared::Outcome::unsupported);
  CHECK(unsupported.reason == "no kernel of the family moe");
  const Prepared large = device->prepare(call_of(KernelFamily::elementwise, "copy", {1e6, 1e4}), kSeed);
  CHECK(large.outcome == Prepared::Outcome::out_of_memory);
  const Prepared alone = device->prepare(call_of(KernelFamily::collective, "all_gather", {8, 1600}), kSeed);
  CHECK(alone.outcome == Prepared::Outcome::unsupported);
  CHECK(alone.reason == "takes 8 GPUs; this machine shows 1");
  CHECK(device->prepare(copy_call(), kSeed).outcome == Prepared::Outcome::ready);
  CHECK(device->verify().passed);
}

TEST_CASE("a lost GPU stays lost", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  device->prepare(copy_call(), kSeed);
  host_gpus().next_error = cudaErrorIllegalAddress;
  const std::string said = lost([&] { device->run(); });
  CHECK(said == "running the kernel: an illegal memory access was encountered (cudaErrorIllegalAddress)");
  CHECK(lost([&] { device->run(); }) == said);
  CHECK(lost([&] { device->prepare(copy_call(), kSeed); }) == said);
  CHECK(lost([&] { device->verify(); }) == said);
  CHECK(lost([&] { device->state(); }) == said);
  CHECK(lost([&] { device->header(); }) == said);
}

TEST_CASE("a GPU that is lost while a call is prepared or verified is noticed then", "[cuda_device]") {
  const Machine machine;
  const auto device = open_cuda_device(0);
  host_gpus().next_error = cudaErrorIllegalAddress;
  CHECK(lost([&] { device->prepare(copy_call(), kSeed); }) != "not lost");

  const auto other = open_cuda_device(0);
  other->prepare(copy_call(), kSeed);
  host_gpus().next_error = cudaErrorIllegalAddress;
  CHECK(lost([&] { other->verify(); }) != "not lost");
}

TEST_CASE("collectives are timed after all GPUs have met", "[cuda_device]") {
  const Machine machine;
  host_gpus().gpus = 3;
  const auto device = open_cuda_device(1);
  CHECK(device->gpus() == 3);
  const KernelCall call = call_of(KernelFamily::collective, "nccl_all_reduce", {3, 1600});
  REQUIRE(device->prepare(call, kSeed).outcome == Prepared::Outcome::ready);
  CHECK(device->verify().passed);
  host_gpus().duration_ns["collective"] = 23'456;
  host_gpus().is_logging = true;
  CHECK(device->run().seconds * 1e9 == Approx(23'456).epsilon(1e-3));
  CHECK(host_gpus().log == std::vector<std::string>{"stamps", "l2_flush", "hold", "l2_flush", "hold",
                                                    "l2_flush", "hold", "meeting", "event", "collective",
                                                    "event", "stamps"});
  int current = -1;
  cudaGetDevice(&current);
  CHECK(current == 1);
}

TEST_CASE("a build without cuDNN refuses it as provider and says why", "[cuda_device]") {
  const Machine machine;
  CHECK_THROWS_WITH(open_cuda_device(0, KernelProvider::cudnn), Catch::Contains("this build has no cuDNN"));
}

}  // namespace
}  // namespace inferometer
