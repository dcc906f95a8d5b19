#pragma once

// A call that is ready to run: its buffers are laid out, what to launch is chosen. Who makes them: the
// runners, one a family. Who uses them: cuda_device.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "calibration/device/call_memory.hpp"
#include "calibration/device/comparison.hpp"
#include "calibration/device/timer.hpp"
#include "costmodel/kernels/kernel_call.hpp"
#include "kernels/gemm/gemm.hpp"

namespace inferometer {

class PreparedCall {
 public:
  virtual ~PreparedCall() = default;

  /// For the record: "decode_attention_mma_8_splits".
  [[nodiscard]] virtual std::string kernel() const = 0;

  /// Queues the inputs, always the same ones, and poison into the outputs.
  virtual void fill() = 0;

  /// Queues what a run needs anew after another: all of fill(), or poison alone where a run changes nothing
  /// but its outputs. Random numbers for gigabytes of inputs take a GPU as long as several runs.
  virtual void refill() { fill(); }

  /// Queues the kernels. What it says before anything is queued decides whether the call can be run.
  virtual kernels::LaunchResult launch(kernels::Stream stream) = 0;

  /// Compares outputs with the reference after one launch has ended.
  virtual void check(Comparison& comparison) = 0;

  /// For calls that a graph of one GPU cannot hold.
  virtual bool times_itself() const { return false; }
  virtual TimedRun time(Timer&) { return {}; }
};

class GpuGroups;  // gpu_group.hpp

/// What the runners are given.
struct RunnerContext {
  CallMemory memory;
  Timer* timer = nullptr;
  const kernels::GemmLibrary* gemm_library = nullptr;
  GpuGroups* groups = nullptr;
  int device = 0;  ///< CUDA's number
  int sm_count = 0;
  int compute_capability = 0;  ///< 80, 90
  int shared_bytes_per_sm = 0;
};

/// An axis as the whole number that it counts. Throws NotPrepared (unsupported) for one that is none, below
/// `least` or above 2^31.
std::int64_t whole_axis(const KernelCall& call, std::string_view name, std::int64_t least);

/// One a family. They throw NotPrepared and DeviceLost; seeds of the inputs are derived from `seed`.
std::unique_ptr<PreparedCall> prepare_gemm(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed);
std::unique_ptr<PreparedCall> prepare_prefill_attention(RunnerContext& context, const KernelCall& call,
                                                        std::uint64_t seed);
std::unique_ptr<PreparedCall> prepare_decode_attention(RunnerContext& context, const KernelCall& call,
                                                       std::uint64_t seed);
std::unique_ptr<PreparedCall> prepare_elementwise(RunnerContext& context, const KernelCall& call,
                                                  std::uint64_t seed);
std::unique_ptr<PreparedCall> prepare_collective(RunnerContext& context, const KernelCall& call,
                                                 std::uint64_t seed);

}  // namespace inferometer
