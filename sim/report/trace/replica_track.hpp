#pragma once

// A replica in a trace: a slice for each engine step on a track for each micro-batch, with what ran in it and
// what it cost, and counters of its queue and memory. Who uses it: the trace.

#include <cstdint>
#include <vector>

#include "sim/replica/observer.hpp"
#include "sim/report/trace/trace_counter.hpp"
#include "sim/report/trace/trace_replica.hpp"
#include "sim/report/trace/trace_sink.hpp"
#include "sim/report/trace/trace_window.hpp"

namespace inferometer {

/// Steps that are partly within the window are shown whole.
class ReplicaTrack {
 public:
  ReplicaTrack(std::int64_t number, TraceReplica replica, const TraceWindow& window, const TraceSink& sink);

  /// O(steps); of those within the window also O(operators).
  void ran(const StepRecord& steps);
  void idle(const IdleRecord& idle);
  void finish(TimePoint end);

 private:
  void count(const StepRecord& step);
  void show(const StepRecord& step);
  void add_prices(const StepRecord& step, TraceEvent& event) const;

  std::int64_t number_;
  TraceReplica replica_;
  TraceWindow window_;
  TraceSink sink_;
  std::vector<TraceCounter> running_;  // by lane
  TraceCounter waiting_, blocks_;
};

}  // namespace inferometer
