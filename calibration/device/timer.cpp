#include "calibration/device/timer.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include <cuda_runtime_api.h>

#include "calibration/device/clock_stamp.hpp"
#include "calibration/device/cuda_check.cuh"
#include "calibration/device/cuda_owners.cuh"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/timer_kernels.hpp"

namespace inferometer {
namespace {

constexpr double kSecondsPerMillisecond = 1e-3;
// A GPU takes some milliseconds to leave its idle clock.
constexpr std::chrono::milliseconds kWakeUp{300};
constexpr int kShareSamples = 51;
// No kernel is shorter: what comes out below is a kernel as short as the events' steps.
constexpr double kLeastSeconds = 1e-7;
// Longer than the host takes to queue a collective on eight GPUs.
constexpr std::int64_t kHoldNanoseconds = 400'000;

DeviceMemory allocate_for_timer(std::int64_t bytes) {
  DeviceMemory memory = allocate(bytes);
  if (!memory) {
    throw std::runtime_error("the GPU has no memory left to flush its L2 cache with");
  }
  return memory;
}

constexpr std::int64_t kStampBytes = kStampedSms * static_cast<std::int64_t>(sizeof(ClockStamp));

}  // namespace

struct Timer::State {
  int sm_count = 0;
  std::int64_t flush_bytes = 0;
  OwnedStream stream = make_stream();
  OwnedEvent begin = make_event();
  OwnedEvent end = make_event();
  DeviceMemory flush_buffer;
  DeviceMemory stamps;                                          // before, then after
  std::unique_ptr<ClockStamp[], FreePinnedMemory> read_stamps;  // the same, on the host
  double own_seconds_of_graph = 0;
  double own_seconds_of_launch = 0;
  double light_load_mhz = 0;
};

void DeleteGraph::operator()(CUgraphExec_st* graph) const {
  cudaGraphExecDestroy(graph);
}

void require_launched(const kernels::LaunchResult& result) {
  using kernels::KernelStatus;
  switch (result.status) {
    case KernelStatus::ok:
      return;
    case KernelStatus::unsupported:
      throw NotPrepared(Prepared::Outcome::unsupported, result.reason);
    case KernelStatus::out_of_memory:
      throw NotPrepared(Prepared::Outcome::out_of_memory, result.reason);
    case KernelStatus::failed:
      break;
  }
  throw DeviceLost(std::string("launching a kernel: ") + result.reason);
}

Timer::Timer(int sm_count, std::int64_t l2_bytes) : state_(std::make_unique<State>()) {
  state_->sm_count = sm_count;
  constexpr std::int64_t kVectorBytes = 16;
  state_->flush_bytes = std::max(kVectorBytes, kFlushedL2Sizes * l2_bytes / kVectorBytes * kVectorBytes);
  state_->flush_buffer = allocate_for_timer(state_->flush_bytes);
  state_->stamps = allocate_for_timer(2 * kStampBytes);
  void* read_stamps = nullptr;
  check_cuda(cudaMallocHost(&read_stamps, 2 * kStampBytes), "taking host memory for the timer");
  state_->read_stamps.reset(static_cast<ClockStamp*>(read_stamps));
  measure_own_share();
}

Timer::~Timer() = default;

kernels::Stream Timer::stream() const {
  return state_->stream.get();
}

double Timer::light_load_mhz() const {
  return state_->light_load_mhz;
}

Graph Timer::capture(const Launch& launch) {
  // Relaxed: launchers may set a kernel's attributes meanwhile.
  check_cuda(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed), "beginning a graph");
  const kernels::LaunchResult launched = launch(stream());
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream(), &captured);
  const OwnedCapture owner(captured);
  require_launched(launched);
  check_cuda(ended, "ending a graph");
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, captured, 0), "making a graph");
  Graph graph(executable);
  check_cuda(cudaGraphUpload(executable, stream()), "loading a graph");
  return graph;
}

void Timer::run_once(const Graph& graph) {
  check_cuda(cudaGraphLaunch(graph.get(), stream()), "starting the kernel");
  check_cuda(cudaStreamSynchronize(stream()), "running the kernel");
}

TimedRun Timer::timed(const std::function<void()>& before, const std::function<void()>& work,
                      double own_seconds) {
  auto* const stamps = static_cast<ClockStamp*>(state_->stamps.get());
  check_cuda(cudaMemsetAsync(stamps, 0, 2 * kStampBytes, stream()), "clearing the stamps");
  check_launch(launch_stamps(stamps, state_->sm_count, stream()), "stamping the clocks");
  check_launch(launch_l2_flush(state_->flush_buffer.get(), state_->flush_bytes, state_->sm_count, stream()),
               "flushing the L2 cache");
  before();
  check_cuda(cudaEventRecord(state_->begin.get(), stream()), "recording an event");
  work();
  check_cuda(cudaEventRecord(state_->end.get(), stream()), "recording an event");
  check_launch(launch_stamps(stamps + kStampedSms, state_->sm_count, stream()), "stamping the clocks");
  ClockStamp* const read = state_->read_stamps.get();
  check_cuda(cudaMemcpyAsync(read, stamps, 2 * kStampBytes, cudaMemcpyDeviceToHost, stream()),
             "reading the stamps");
  check_cuda(cudaStreamSynchronize(stream()), "running the kernel");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, state_->begin.get(), state_->end.get()), "reading the time");
  const double of_kernels = static_cast<double>(milliseconds) * kSecondsPerMillisecond - own_seconds;
  return {.seconds = std::max(of_kernels, kLeastSeconds),
          .sm_mhz = mean_sm_mhz({read, kStampedSms}, {read + kStampedSms, kStampedSms})};
}

TimedRun Timer::time(const Graph& graph) {
  return timed([] {}, [&] { check_cuda(cudaGraphLaunch(graph.get(), stream()), "starting the kernel"); },
               state_->own_seconds_of_graph);
}

TimedRun Timer::time_launch(const Launch& before, const Launch& launch) {
  return timed(
      [&] {
        check_launch(launch_hold(kHoldNanoseconds, stream()), "holding the stream");
        check_launch(before(stream()), "starting what comes before the kernel");
      },
      [&] { check_launch(launch(stream()), "starting the kernel"); }, state_->own_seconds_of_launch);
}

void Timer::measure_own_share() {
  const Launch few = [](kernels::Stream s) { return launch_empty(kFewEmptyKernels, s); };
  const Launch many = [](kernels::Stream s) { return launch_empty(kManyEmptyKernels, s); };
  const Launch nothing = [](kernels::Stream) { return kernels::LaunchResult{}; };
  const Graph graph_of_few = capture(few);
  const Graph graph_of_many = capture(many);
  const auto awake = std::chrono::steady_clock::now() + kWakeUp;
  while (std::chrono::steady_clock::now() < awake) {
    time(graph_of_many);
  }
  std::vector<double> seconds[4];
  std::vector<double> clocks;
  for (int i = 0; i < kShareSamples; ++i) {
    const TimedRun runs[] = {time(graph_of_few), time(graph_of_many), time_launch(nothing, few),
                             time_launch(nothing, many)};
    for (std::size_t kind = 0; kind < 4; ++kind) {
      seconds[kind].push_back(runs[kind].seconds);
      clocks.push_back(runs[kind].sm_mhz);
    }
  }
  state_->light_load_mhz = median(clocks);
  state_->own_seconds_of_graph = timer_share(seconds[0], seconds[1]).own_seconds;
  state_->own_seconds_of_launch = timer_share(seconds[2], seconds[3]).own_seconds;
}

}  // namespace inferometer
