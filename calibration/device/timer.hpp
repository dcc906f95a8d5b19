#pragma once

// Times what is queued on a stream of a GPU, out of a cold L2 cache. A run is: stamps of the SM clocks; the
// L2 cache is flushed, which takes the GPU longer than the host takes to queue the rest; an event; a graph
// of the kernels; an event; stamps. What the events and the graph take themselves is measured once with empty
// kernels (timer_share.hpp) and taken off. Who uses it: cuda_device.cpp, and gemm_runner.cpp to choose among
// candidates.

#include <cstdint>
#include <functional>
#include <memory>

#include "calibration/device/timer_share.hpp"
#include "calibration/measure/kernel_device.hpp"
#include "kernels/common/kernel_status.hpp"

struct CUgraphExec_st;

namespace inferometer {

/// Queues kernels on the stream.
using Launch = std::function<kernels::LaunchResult(kernels::Stream)>;

/// Kernels that a GPU starts as one.
struct DeleteGraph {
  void operator()(CUgraphExec_st* graph) const;
};
using Graph = std::unique_ptr<CUgraphExec_st, DeleteGraph>;

/// One of the current CUDA device. All functions throw DeviceLost.
class Timer {
 public:
  /// `l2_bytes`: the size of the L2 cache, of which twice as much memory is taken. Measures its own share,
  /// some tenths of a second.
  Timer(int sm_count, std::int64_t l2_bytes);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  [[nodiscard]] kernels::Stream stream() const;

  /// The kernels that `launch` queues, as a graph. Throws NotPrepared with what the launcher says when it
  /// refuses.
  [[nodiscard]] Graph capture(const Launch& launch);

  /// Runs them once without timing, to the end.
  void run_once(const Graph& graph);

  TimedRun time(const Graph& graph);

  /// The same without a graph: what `launch` queues, behind what `before` queues (both on stream()), such as
  /// a meeting of several GPUs.
  TimedRun time_launch(const Launch& before, const Launch& launch);

  /// Median SM clock of the first runs, when the GPU had hardly anything to do; 0: not known.
  [[nodiscard]] double light_load_mhz() const;

 private:
  struct State;
  TimedRun timed(const std::function<void()>& before, const std::function<void()>& work, double own_seconds);
  void measure_own_share();
  std::unique_ptr<State> state_;
};

/// Throws NotPrepared where the launcher refuses, DeviceLost where it fails.
void require_launched(const kernels::LaunchResult& result);

}  // namespace inferometer
