#pragma once

// The event loop: requests arrive from a workload, replicas run steps, time jumps from event to event.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sim/engine/event_queue.hpp"
#include "sim/replica/replica.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// Where all requests are, at one moment. Invariant: injected = completed + running + waiting + rejected.
struct Census {
  std::int64_t injected = 0;
  std::int64_t completed = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  std::int64_t rejected = 0;
};

class Simulation {
 public:
  /// `observer` outlives the simulation.
  Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> replicas, SimulationObserver& observer);

  /// Handles up to so many events; true when there is more to do. A run in pieces equals a run in one.
  /// Throws what the workload throws (TraceError). O(log pending) an event besides the policy and the pricer.
  bool run(std::int64_t max_events = std::numeric_limits<std::int64_t>::max());
  /// Ends a run that has more to do, for good: steps that have ended by now() take effect, what is under way
  /// does not. To be called before results of an interrupted run are read.
  void cut_off();

  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] Census census() const;
  /// Those without effect included: ends of stretches that an arrival cut short.
  [[nodiscard]] std::int64_t events() const { return events_; }
  /// Of all replicas.
  [[nodiscard]] StepCounts step_counts() const;
  [[nodiscard]] const std::vector<Replica>& replicas() const { return replicas_; }
  [[nodiscard]] const Workload& workload() const { return *workload_; }

 private:
  void dispatch(Event event);
  void receive_arrivals();
  void end_steps(std::uint32_t target);
  void interrupt(std::uint32_t target);
  void schedule(std::uint32_t target);
  void schedule_next(std::uint32_t target);
  void request_schedule(std::uint32_t target, TimePoint time);
  void report_departures(std::uint32_t target);
  void post_next_arrival();

  std::unique_ptr<Workload> workload_;
  std::vector<Replica> replicas_;
  SimulationObserver& observer_;
  EventQueue queue_;
  TimePoint now_;
  Request request_;
  std::int64_t injected_ = 0;
  std::int64_t waiting_ = 0;  // on all replicas
  std::int64_t events_ = 0;
  std::optional<TimePoint> pending_arrival_;                 // the earliest one in the queue
  std::vector<std::optional<TimePoint>> pending_schedules_;  // likewise, by replica
};

}  // namespace inferometer
