#pragma once

// The event loop: requests arrive from a workload, replicas run steps, time jumps from event to event.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/coordinator.hpp"
#include "sim/cluster/engine_control.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/replica/replica.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// Where all requests are, at one moment. Invariant: injected = completed + running + waiting + in transit +
/// rejected.
struct Census {
  std::int64_t injected = 0;
  std::int64_t completed = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  std::int64_t in_transit = 0;  ///< their KV between replicas, or waiting for blocks before the prefill
  std::int64_t rejected = 0;    ///< turned away, or given up after failures
};

class Simulation final : private EngineControl {
 public:
  /// One replica, to which everything goes. `observer` outlives the simulation.
  Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> replica, SimulationObserver& observer);
  /// A cluster. `lanes`: the micro-batches of its replicas, replica by replica in the order of the setup's
  /// pools; one each without a pipeline.
  Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> lanes,
             std::shared_ptr<const ClusterSetup> cluster, SimulationObserver& observer);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() override = default;

  /// Handles up to so many events; true when there is more to do. A run in pieces equals a run in one.
  /// Throws what the workload throws (TraceError). O(log pending) an event besides the policy and the pricer.
  bool run(std::int64_t max_events = std::numeric_limits<std::int64_t>::max());
  /// Ends a run that has more to do, for good: steps that have ended by now() take effect, what is under way
  /// does not. To be called before results of an interrupted run are read.
  void cut_off();

  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] Census census() const;
  /// Those without effect included: ends of stretches that an arrival cut short.
  [[nodiscard]] std::int64_t events() const { return events_; }
  /// Of all replicas.
  [[nodiscard]] StepCounts step_counts() const;
  /// Micro-batches: one a replica without a pipeline.
  [[nodiscard]] const std::vector<Replica>& lanes() const { return lanes_; }
  [[nodiscard]] const Workload& workload() const { return *workload_; }
  /// nullptr without a cluster.
  [[nodiscard]] const Coordinator* coordinator() const { return coordinator_ ? &*coordinator_ : nullptr; }

 private:
  struct LaneRange {
    std::uint32_t first = 0, count = 0;
  };

  void dispatch(Event event);
  [[nodiscard]] bool is_void(Event event) const;
  void receive_arrivals();
  void send_to_only_replica();
  void end_steps(std::uint32_t lane);
  void interrupt_lane(std::uint32_t lane, bool always);
  [[nodiscard]] bool has_decided(std::uint32_t lane) const {
    return decided_at_ == now_ && lane <= last_decided_;
  }
  void schedule(std::uint32_t lane);
  void schedule_next(std::uint32_t lane);
  void request_schedule(std::uint32_t lane, TimePoint time);
  void report_departures(std::uint32_t lane);
  void post_next_arrival();
  void post_next_transfer();
  void end_loads(std::uint32_t lane);
  void post_next_load_end(std::uint32_t lane);
  void recount_waiting(std::uint32_t lane);
  void wake_neighbours(std::uint32_t lane);

  // What the coordinator asks for.
  SimulationObserver& observer() override { return observer_; }
  std::span<Replica> lanes(std::int32_t replica) override;
  void interrupt(std::int32_t replica, bool always) override;
  void look_for_work(std::int32_t replica) override;
  [[nodiscard]] std::int64_t cached_tokens(std::int32_t replica, const Request& request) override;
  void settle_prefixes(std::int32_t replica) override;
  void load_changed(std::int32_t replica) override { coordinator_->load_changed(replica); }
  std::vector<Evacuated> fail(std::int32_t replica) override;
  void set_timer(TimePoint time, std::uint32_t timer) override;
  void transfers_changed() override { post_next_transfer(); }
  void leave(std::int64_t request_id) override;
  [[nodiscard]] std::int64_t in_system() const override { return injected_ - left_; }
  [[nodiscard]] bool is_busy() const override;

  std::unique_ptr<Workload> workload_;
  std::vector<Replica> lanes_;
  std::vector<LaneRange> ranges_;          // by replica
  std::vector<std::uint32_t> replica_of_;  // by lane
  SimulationObserver& observer_;
  EventQueue queue_;
  TimePoint now_;
  Request request_;
  std::int64_t injected_ = 0;
  std::int64_t left_ = 0;
  std::int64_t waiting_ = 0;                 // on all replicas
  std::vector<std::int64_t> waiting_there_;  // by replica
  std::int64_t events_ = 0;
  std::optional<TimePoint> pending_arrival_;                 // the earliest one in the queue
  std::optional<TimePoint> pending_transfer_;                // likewise
  std::vector<std::optional<TimePoint>> pending_schedules_;  // likewise, by lane
  std::vector<std::optional<TimePoint>> pending_load_ends_;  // likewise
  // How far the lanes have decided at one moment, in their order: had each step been planned by itself, those
  // up to here that end a step now would have begun the next.
  std::optional<TimePoint> decided_at_;
  std::uint32_t last_decided_ = 0;
  std::optional<Coordinator> coordinator_;
};

}  // namespace inferometer
