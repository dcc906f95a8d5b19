#include "calibration/device/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/check.hpp"
#include "calibration/device/build_facts.hpp"
#include "calibration/device/cuda_check.cuh"
#include "calibration/device/cuda_owners.cuh"
#include "calibration/device/cudnn_provider.hpp"
#include "calibration/device/gpu_facts.hpp"
#include "calibration/device/gpu_group.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/nvml.hpp"
#include "calibration/device/nvtx_range.hpp"
#include "calibration/device/prepared_call.hpp"
#include "calibration/record/gpu_names.hpp"
#include "kernels/gemm/gemm.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
// For cuBLAS, NCCL and the driver itself.
constexpr std::int64_t kLeftFreeBytes = 1024 * kMib;
constexpr std::int64_t kLeastArenaBytes = 256 * kMib;

// The driver may take longer to answer than a sample takes, and heat does not come and go between two.
constexpr std::chrono::milliseconds kHeatInterval{10};

// Rows from which on a GEMM is what a prefill does.
constexpr double kPrefillRows = 256;

constexpr const char* kMethod =
    "CUDA events around a graph of the kernels alone, the events' and the graph's own time taken off (from "
    "graphs of 1 and 33 empty kernels); cold L2 (twice its size written, then read); SM clock of each run "
    "from "
    "the SMs' counters; collectives without a graph, all GPUs held and met before";

/// All free memory but kLeftFreeBytes, or what of it can be had in one piece.
std::pair<DeviceMemory, std::int64_t> take_free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  std::int64_t bytes = static_cast<std::int64_t>(free) - kLeftFreeBytes;
  while (bytes >= kLeastArenaBytes) {
    if (DeviceMemory memory = allocate(bytes)) {
      return {std::move(memory), bytes};
    }
    bytes = bytes / 8 * 7;
  }
  throw std::runtime_error(fmt::format("the GPU has {} MiB free; measuring takes {} MiB at the least",
                                       static_cast<std::int64_t>(free) / kMib,
                                       (kLeastArenaBytes + kLeftFreeBytes) / kMib));
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string on_or_off(std::optional<bool> is_on) {
  return !is_on ? "" : *is_on ? "on" : "off";
}

const char* phase_of(const KernelCall& call) {
  const bool is_prefill = call.family == KernelFamily::prefill_attention ||
                          (call.family == KernelFamily::gemm && call.axes[0] > kPrefillRows);
  return is_prefill ? "prefill" : "decode";
}

/// "13.0.1" of 130001, "12.4.5" of 120405.
std::string cublas_version_text(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

kernels::GemmLibraryPtr opened_gemm_library() {
  kernels::GemmLibraryPtr library;
  check_launch(kernels::open_gemm_library(library), "opening cuBLASLt");
  return library;
}

class CudaDevice final : public KernelDevice {
 private:
  /// After one lost device every call throws the same.
  template <class Function>
  auto guarded(Function function) {
    if (!lost_.empty()) {
      throw DeviceLost(lost_);
    }
    try {
      check_cuda(cudaSetDevice(facts_.index), "choosing the GPU");
      return function();
    } catch (const DeviceLost& lost) {
      lost_ = lost.what();
      throw;
    }
  }

 public:
  CudaDevice(const GpuFacts& facts, KernelProvider provider)
      : facts_(facts),
        nvml_(facts.pci_address),
        timer_(facts.sm_count, facts.l2_bytes),
        warm_(nvml_.state()),
        groups_(facts.index, timer_.stream()),
        cudnn_(provider == KernelProvider::cudnn ? open_cudnn() : nullptr) {
    auto [memory, bytes] = take_free_memory();
    arena_memory_ = std::move(memory);
    arena_ = Arena(arena_memory_.get(), bytes);
  }

  MeasurementHeader header() override;

  double full_sm_mhz() const override;

  int gpus() const override {
    int visible = 1;
    check_cuda(cudaGetDeviceCount(&visible), "counting the GPUs");
    return visible;
  }

  double memory_bytes() const override { return static_cast<double>(arena_.bytes()); }

  Prepared prepare(const KernelCall& call, std::uint64_t seed) override {
    return guarded([&] { return prepare_call(call, seed); });
  }

  Verification verify() override {
    return guarded([&] {
      INFEROMETER_CHECK(prepared_, "a call is prepared before it is verified");
      const NvtxRange range(phase_);
      prepared_->refill();
      run_prepared();
      Comparison comparison;
      prepared_->check(comparison);
      return comparison.result();
    });
  }

  TimedRun run() override {
    return guarded([&] {
      INFEROMETER_CHECK(prepared_, "a call is prepared before it is run");
      const NvtxRange range(phase_);
      return graph_ ? timer_.time(graph_) : prepared_->time(timer_);
    });
  }

  DeviceState state() override {
    return guarded([&] { return nvml_.state(); });
  }

  bool is_slowed_by_heat() override {
    return guarded([&] {
      const auto now = std::chrono::steady_clock::now();
      if (now - heat_asked_ >= kHeatInterval) {
        heat_asked_ = now;
        is_slowed_by_heat_ = nvml_.is_slowed_by_heat();
      }
      return is_slowed_by_heat_;
    });
  }

 private:
  Prepared prepare_call(const KernelCall& call, std::uint64_t seed);
  std::unique_ptr<PreparedCall> prepared_for(const KernelCall& call, std::uint64_t seed);

  /// One run to its end, of exactly what run() times.
  void run_prepared() {
    if (graph_) {
      timer_.run_once(graph_);
    } else {
      require_launched(prepared_->launch(timer_.stream()));
      check_cuda(cudaStreamSynchronize(timer_.stream()), "running the kernel");
    }
  }

  [[nodiscard]] std::string clocks() const;

  GpuFacts facts_;
  Nvml nvml_;
  kernels::GemmLibraryPtr gemm_library_ = opened_gemm_library();
  Timer timer_;
  DeviceState warm_;  // just after the timer's first runs
  GpuGroups groups_;
  DeviceMemory arena_memory_;
  Arena arena_;
  std::shared_ptr<const Cudnn> cudnn_;  // nullptr: our own kernels
  std::unique_ptr<PreparedCall> prepared_;
  Graph graph_;  // of prepared_, unless it times itself
  const char* phase_ = "";
  std::string lost_;
  std::chrono::steady_clock::time_point heat_asked_;
  bool is_slowed_by_heat_ = false;
};

double CudaDevice::full_sm_mhz() const {
  // Locked clocks show only when something runs. A GPU that is hot already says nothing about its full clock.
  const double seen = timer_.light_load_mhz();
  if (seen <= 0 || warm_.thermal_slowdown) {
    return facts_.boost_mhz;
  }
  // The driver's figure is exact, the same in every run, unless it is of another moment.
  constexpr double kSameClock = 0.05;
  const double of_driver = warm_.sm_mhz.value_or(0);
  const bool is_same = std::abs(of_driver - seen) <= kSameClock * seen;
  return std::min(is_same ? of_driver : seen, facts_.boost_mhz);
}

std::string CudaDevice::clocks() const {
  // A GPU that is left alone runs light work within a few steps of 15 MHz of its highest clock.
  constexpr double kAsGoodAsFull = 0.97;
  const double full = full_sm_mhz();
  return full >= kAsGoodAsFull * facts_.boost_mhz
             ? fmt::format("up to {:.0f} MHz", facts_.boost_mhz)
             : fmt::format("held at {:.0f} MHz of {:.0f}", full, facts_.boost_mhz);
}

MeasurementHeader CudaDevice::header() {
  return guarded([&] {
    int runtime = 0;
    check_cuda(cudaRuntimeGetVersion(&runtime), "asking for the version of CUDA");
    const DeviceState now = nvml_.state();
    MeasurementHeader header;
    header.gpu = GpuNames().of_device(facts_.name).value_or("");
    header.device = facts_.name;
    header.library = to_string(cudnn_ ? KernelProvider::cudnn : KernelProvider::inferometer);
    header.library_version = cudnn_ ? cudnn_version(*cudnn_) : kBuildFacts.version;
    header.driver_version = nvml_.driver_version().value_or("");
    header.cuda_runtime_version = cuda_version_text(runtime);
    header.cublas_version = cublas_version_text(kernels::gemm_library_version());
    header.nvcc_version = kBuildFacts.nvcc_version;
    header.clocks = clocks();
    header.method = kMethod;
    header.source_hash = kBuildFacts.source_hash;
    header.revision = kBuildFacts.revision;
    header.compute_capability = fmt::format("{}.{}", facts_.major, facts_.minor);
    header.ecc = on_or_off(nvml_.ecc());
    header.mig = on_or_off(nvml_.mig());
    header.sm_count = facts_.sm_count;
    header.l2_bytes = static_cast<double>(facts_.l2_bytes);
    header.hbm_bytes = static_cast<double>(facts_.hbm_bytes);
    header.power_limit_w = nvml_.power_limit_w().value_or(0);
    header.mem_mhz = warm_.mem_mhz.value_or(0);
    header.uuid_hash = facts_.uuid_hash;
    header.host = host_name();
    header.utc = utc_now();
    header.temperature_c = now.temperature_c.value_or(0);
    header.sm_mhz_mean = now.sm_mhz.value_or(0);
    return header;
  });
}

std::unique_ptr<PreparedCall> CudaDevice::prepared_for(const KernelCall& call, std::uint64_t seed) {
  RunnerContext context{.memory = CallMemory(arena_, timer_.stream()),
                        .timer = &timer_,
                        .gemm_library = gemm_library_.get(),
                        .groups = &groups_,
                        .device = facts_.index,
                        .sm_count = facts_.sm_count,
                        .compute_capability = 10 * facts_.major + facts_.minor,
                        .shared_bytes_per_sm = facts_.shared_bytes_per_sm};
  if (cudnn_) {
    if (call.family != KernelFamily::prefill_attention) {
      throw NotPrepared(Prepared::Outcome::unsupported, "of cuDNN only prefill attention is measured");
    }
    return prepare_cudnn_prefill_attention(context, *cudnn_, call, seed);
  }
  switch (call.family) {
    case KernelFamily::gemm:
      return prepare_gemm(context, call, seed);
    case KernelFamily::prefill_attention:
      return prepare_prefill_attention(context, call, seed);
    case KernelFamily::decode_attention:
      return prepare_decode_attention(context, call, seed);
    case KernelFamily::elementwise:
      return prepare_elementwise(context, call, seed);
    case KernelFamily::collective:
      return prepare_collective(context, call, seed);
    case KernelFamily::moe:
    case KernelFamily::mla_prefill:
    case KernelFamily::mla_decode:
    case KernelFamily::host:
      break;
  }
  throw NotPrepared(Prepared::Outcome::unsupported,
                    fmt::format("no kernel of the family {}", to_string(call.family)));
}

Prepared CudaDevice::prepare_call(const KernelCall& call, std::uint64_t seed) {
  graph_.reset();
  prepared_.reset();
  arena_.reset();
  phase_ = phase_of(call);
  try {
    std::unique_ptr<PreparedCall> prepared = prepared_for(call, seed);
    prepared->fill();
    // Loads the kernel's code and shows what the launcher refuses, which a capture must not do.
    require_launched(prepared->launch(timer_.stream()));
    check_cuda(cudaStreamSynchronize(timer_.stream()), "running the kernel");
    if (!prepared->times_itself()) {
      graph_ = timer_.capture([&](kernels::Stream stream) { return prepared->launch(stream); });
    }
    prepared_ = std::move(prepared);
    return {.outcome = Prepared::Outcome::ready, .reason = "", .kernel = prepared_->kernel()};
  } catch (const NotPrepared& refusal) {
    check_cuda(cudaStreamSynchronize(timer_.stream()), "filling buffers");
    return {.outcome = refusal.outcome(), .reason = refusal.what(), .kernel = ""};
  }
}

}  // namespace

std::unique_ptr<KernelDevice> open_cuda_device(int index, KernelProvider provider) {
  const GpuFacts facts = open_gpu(index);
  return std::make_unique<CudaDevice>(facts, provider);
}

}  // namespace inferometer
