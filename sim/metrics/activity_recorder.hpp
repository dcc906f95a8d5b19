#pragma once

// How busy the simulated GPUs are over time, in the columns of NVIDIA's DCGM: SM activity (field 1002) and
// DRAM activity (field 1005). Who uses it: `inferometer run --activity`, to be put beside a log of a real
// GPU.
//
//   busy   time in which kernels run on the GPU: the step's time less its host part and its waiting for a
//          stage of the pipeline. Over all periods it is
//          what results.json splits into compute, bandwidth, latency and communication. DCGM averages over
//          the SMs and counts one only while a warp is on it, so that a kernel too small for the GPU shows
//          less there than here.
//   bytes  to and from the HBM of one GPU, as results.json has them in its MBU: each input read once, each
//          output written once, over the bandwidth of the datasheet.

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "costmodel/work_totals.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

inline constexpr Duration kActivityPeriod = milliseconds(100);  // dcgmi dmon -d 100

/// What happened on each GPU of one replica in one period. In a pipeline, on all its stages together: a
/// micro-batch is on one of them at a time.
struct ActivityPeriod {
  Duration busy{};
  Bytes hbm_bytes{};

  friend bool operator==(const ActivityPeriod&, const ActivityPeriod&) = default;
};

/// Keeps 16 bytes a replica and period up to its last step: 10 MB for a day. A record costs O(periods +
/// chunks x steps). A step that spans periods is taken to be busy evenly from its start to its end; parts are
/// rounded so that the periods add up to the step, exactly. The same by either stepper.
class ActivityRecorder final : public SimulationObserver {
 public:
  /// `work`: an empty account of the model on one GPU. Precondition: replicas >= 1, period > 0.
  ActivityRecorder(std::int64_t replicas, const WorkTotals& work, Duration period = kActivityPeriod);
  /// Such an account for each replica, which may run on other GPUs than the next. Precondition: one at least,
  /// period > 0.
  explicit ActivityRecorder(std::vector<WorkTotals> work_of_replica, Duration period = kActivityPeriod);

  void on_steps(const StepRecord& steps) override;

  [[nodiscard]] Duration period() const { return period_; }
  /// By replica; the first period begins at the start of the simulation.
  [[nodiscard]] const std::vector<std::vector<ActivityPeriod>>& replicas() const { return replicas_; }

 private:
  /// Steps `first` up to `end` (not included) of a record, together.
  [[nodiscard]] ActivityPeriod sum(const StepRecord& steps, std::int64_t first, std::int64_t end);
  void split(const StepRecord& steps, std::int64_t step);
  void add(std::int32_t replica, std::int64_t period, const ActivityPeriod& part);
  [[nodiscard]] std::int64_t period_of(TimePoint time) const {
    return time.since_start().count() / period_.count();
  }
  [[nodiscard]] TimePoint end_of(std::int64_t period) const { return TimePoint(period_ * (period + 1)); }

  std::vector<WorkTotals> no_work_;  // by replica
  Duration period_;
  std::vector<std::vector<ActivityPeriod>> replicas_;
  std::vector<ChunkShape> chunks_;  // of the step looked at
};

}  // namespace inferometer
