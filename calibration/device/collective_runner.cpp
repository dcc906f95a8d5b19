#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "calibration/device/cuda_check.cuh"
#include "calibration/device/gpu_group.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "calibration/device/timer_kernels.hpp"
#include "kernels/common/launch_check.cuh"

namespace inferometer {
namespace {

using kernels::ElementType;
using kernels::LaunchResult;

constexpr std::int64_t kElementBytes = 2;  // bf16
// Longer than one thread takes to queue a collective on eight GPUs, and not longer than the timer holds its
// own.
constexpr std::int64_t kPeerHoldNanoseconds = 300'000;

enum class Operation { all_reduce, all_gather, copy_to_peer };

Operation operation_of(const KernelCall& call) {
  if (call.variant == "nccl_all_reduce") {
    return Operation::all_reduce;
  }
  if (call.variant == "all_gather") {
    return Operation::all_gather;
  }
  if (call.variant == "send_recv") {
    return Operation::copy_to_peer;
  }
  throw NotPrepared(
      Prepared::Outcome::unsupported,
      fmt::format("no {} here; collectives are nccl_all_reduce, all_gather and send_recv", call.variant));
}

/// Input and output of one GPU.
struct RankBuffers {
  CallMemory memory;
  kernels::RandomFill input_fill = {};
  DeviceBuffer input = {}, output = {};
  DeviceBuffer meeting = {};  // of a collective that only makes the GPUs wait for each other
};

/// NCCL's collectives among all ranks; a copy from rank 0 to rank 1 by the copy engine.
class CollectiveCall final : public PreparedCall {
 public:
  CollectiveCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : operation_(operation_of(call)), seed_(seed) {
    const auto gpus = static_cast<std::int64_t>(whole_axis(call, "gpus", 2));
    const std::int64_t bytes = whole_axis(call, "bytes", kElementBytes);
    const std::int64_t parts = operation_ == Operation::all_gather ? gpus : 1;
    if (bytes % (parts * kElementBytes) != 0) {
      throw NotPrepared(Prepared::Outcome::unsupported, "collective: whole bf16 elements for each GPU");
    }
    if (operation_ == Operation::copy_to_peer && gpus != 2) {
      throw NotPrepared(Prepared::Outcome::unsupported, "send_recv is between 2 GPUs");
    }
    group_ = &context.groups->of(static_cast<int>(gpus));
    if (operation_ != Operation::copy_to_peer) {
      nccl_ = &group_->nccl();
    }
    input_count_ = bytes / kElementBytes / parts;
    output_count_ = bytes / kElementBytes;
    for (const GpuGroup::Rank& rank : group_->ranks()) {
      take_buffers(context, rank);
    }
  }

  std::string kernel() const override { return nccl_ == nullptr ? "peer_copy" : "nccl_" + nccl_->version(); }

  void fill() override {
    for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
      const CurrentGpu current(group_->ranks()[rank].device);
      RankBuffers& of_rank = buffers_[rank];
      of_rank.memory.fill(of_rank.input, of_rank.input_fill);
      of_rank.memory.poison(of_rank.output);
      of_rank.memory.zero(of_rank.meeting.data, of_rank.meeting.bytes());
      // Rank 0 may begin before the others' inputs are there.
      check_cuda(cudaStreamSynchronize(of_rank.memory.stream()), "filling buffers");
    }
  }

  LaunchResult launch(kernels::Stream stream) override {
    if (operation_ == Operation::copy_to_peer) {
      return kernels::result_of(cudaMemcpyPeerAsync(
          buffers_[1].output.data, group_->ranks()[1].device, buffers_[0].input.data,
          group_->ranks()[0].device, static_cast<std::size_t>(output_count_ * kElementBytes), stream));
    }
    nccl_->start_group();
    for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
      const RankBuffers& of_rank = buffers_[rank];
      const auto count = static_cast<std::size_t>(input_count_);
      if (operation_ == Operation::all_reduce) {
        nccl_->all_reduce(static_cast<int>(rank), of_rank.input.data, of_rank.output.data, count,
                          of_rank.memory.stream());
      } else {
        nccl_->all_gather(static_cast<int>(rank), of_rank.input.data, of_rank.output.data, count,
                          of_rank.memory.stream());
      }
    }
    nccl_->end_group();
    return {};
  }

  void check(Comparison& comparison) override;

  bool times_itself() const override { return true; }

  TimedRun time(Timer& timer) override {
    const auto before = [this](kernels::Stream) { return nccl_ == nullptr ? LaunchResult{} : meet(); };
    return timer.time_launch(before, [this](kernels::Stream stream) { return launch(stream); });
  }

 private:
  void take_buffers(RunnerContext& context, const GpuGroup::Rank& rank) {
    if (rank.arena != nullptr) {
      rank.arena->reset();
    }
    RankBuffers of_rank{.memory =
                            rank.arena == nullptr ? context.memory : CallMemory(*rank.arena, rank.stream)};
    of_rank.input_fill = {.type = ElementType::bf16, .seed = seed_of_input(seed_, buffers_.size())};
    of_rank.input = of_rank.memory.take({input_count_}, ElementType::bf16);
    of_rank.output = of_rank.memory.take({output_count_}, ElementType::bf16);
    of_rank.meeting = of_rank.memory.take({1}, ElementType::bf16);
    buffers_.push_back(of_rank);
  }

  LaunchResult meet();
  double expected(std::int64_t index, double& allowed) const;

  Operation operation_;
  std::uint64_t seed_;
  GpuGroup* group_ = nullptr;
  Nccl* nccl_ = nullptr;
  std::int64_t input_count_ = 0, output_count_ = 0;
  std::vector<RankBuffers> buffers_;
};

/// All GPUs have flushed their caches and are at the same point when this ends, and the host has queued what
/// is timed by then.
LaunchResult CollectiveCall::meet() {
  for (std::size_t rank = 1; rank < buffers_.size(); ++rank) {
    const GpuGroup::Rank& of_group = group_->ranks()[rank];
    const CurrentGpu current(of_group.device);
    if (const LaunchResult result =
            launch_l2_flush(of_group.flush_buffer, of_group.flush_bytes, of_group.sm_count, of_group.stream);
        !result.ok()) {
      return result;
    }
    if (const LaunchResult result = launch_hold(kPeerHoldNanoseconds, of_group.stream); !result.ok()) {
      return result;
    }
  }
  nccl_->start_group();
  for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
    void* const number = buffers_[rank].meeting.data;
    nccl_->all_reduce(static_cast<int>(rank), number, number, 1, buffers_[rank].memory.stream());
  }
  nccl_->end_group();
  return {};
}

/// Output `index` of any rank that has one.
double CollectiveCall::expected(std::int64_t index, double& allowed) const {
  constexpr double kExact = 1e-12;
  allowed = kExact;
  if (operation_ == Operation::copy_to_peer) {
    return exact_element(buffers_[0].input_fill, index);
  }
  if (operation_ == Operation::all_gather) {
    return exact_element(buffers_[static_cast<std::size_t>(index / input_count_)].input_fill,
                         index % input_count_);
  }
  double sum = 0;
  double magnitude = 0;
  for (const RankBuffers& of_rank : buffers_) {
    const double term = exact_element(of_rank.input_fill, index);
    sum += term;
    magnitude += term < 0 ? -term : term;
  }
  // Each of the partial sums may be rounded to bf16, by 2^-9 of at most the magnitude.
  allowed += 0x1p-9 * static_cast<double>(buffers_.size()) * magnitude;
  return sum;
}

void CollectiveCall::check(Comparison& comparison) {
  // The first rank's stream has been waited for; the others' too, before what they hold is read.
  for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
    const CurrentGpu current(group_->ranks()[rank].device);
    check_cuda(cudaStreamSynchronize(buffers_[rank].memory.stream()), "running a collective");
  }
  for (std::size_t rank = operation_ == Operation::copy_to_peer ? 1 : 0; rank < buffers_.size(); ++rank) {
    const CurrentGpu current(group_->ranks()[rank].device);
    RankBuffers& of_rank = buffers_[rank];
    for (const std::int64_t index : sampled_indices(output_count_, kMostOutputs, seed_)) {
      double allowed = 0;
      const double want = expected(index, allowed);
      comparison.add(index, of_rank.memory.read(of_rank.output, index, 1).front(), want, allowed);
    }
    of_rank.memory.check_finite(of_rank.output, comparison);
  }
}

}  // namespace

std::unique_ptr<PreparedCall> prepare_collective(RunnerContext& context, const KernelCall& call,
                                                 std::uint64_t seed) {
  return std::make_unique<CollectiveCall>(context, call, seed);
}

}  // namespace inferometer
