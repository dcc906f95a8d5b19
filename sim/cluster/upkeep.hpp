#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cluster/cluster_setup.hpp"
#include "sim/cluster/cluster_totals.hpp"
#include "sim/cluster/engine_control.hpp"
#include "sim/cluster/fleet.hpp"
#include "sim/cluster/timers.hpp"
#include "sim/cluster/transfers.hpp"

namespace inferometer {

/// What replicas coming and going mean for requests.
class UpkeepActions {
 public:
  virtual ~UpkeepActions() = default;
  /// Everything on it is lost, and it takes no more.
  virtual void replica_failed(std::int32_t replica) = 0;
  /// Takes requests from now on, or in another role.
  virtual void replica_up(std::int32_t replica) = 0;
  /// Requests that wait, and need a replica of the role.
  [[nodiscard]] virtual std::int64_t held(PoolRole role) const = 0;
};

/// Keeps the fleet: failures and drains of the schedule, starts, autoscaling, the split of the pools, and
/// snapshots for the routers. What happens at intervals costs O(replicas) each time.
class Upkeep {
 public:
  /// All outlive it.
  Upkeep(const ClusterSetup& setup, EngineControl& control, Fleet& fleet, Timers& timers,
         Transfers& transfers, ClusterTotals& totals, UpkeepActions& actions);

  void begin();
  void timer(const Timer& timer);
  void weights_loaded(const TransferPurpose& purpose);
  /// A request has left the replica, or its KV has: a drained one may now be off.
  void look_at(std::int32_t replica) {
    if (!draining_.empty()) {
      look_at_drained(replica);
    }
  }
  void look_at_draining();
  /// A request has come: what had stopped for lack of requests goes on.
  void request_came();
  /// Whether a replica of the role that takes requests may still come.
  [[nodiscard]] bool may_come(PoolRole role) const;
  /// Whether the replica drains to join another pool.
  [[nodiscard]] bool goes_over(std::int32_t replica) const {
    return members_[static_cast<std::size_t>(replica)].becomes.has_value();
  }

 private:
  struct Member {
    std::int64_t start = 0;                // number of the latest start
    std::int32_t returns = 0;              // timers under way that start it
    std::optional<std::uint32_t> weights;  // transfer under way
    std::optional<PoolRole> becomes;       // once it has drained
  };
  struct Scaling {
    std::optional<TimePoint> too_many_since;
  };

  Member& member(std::int32_t replica) { return members_[static_cast<std::size_t>(replica)]; }
  void befall(const ReplicaEvent& event);
  void start(std::int32_t replica);
  void booted(std::int32_t replica, std::int64_t start);
  void up(std::int32_t replica);
  void drain(std::int32_t replica);
  void look_at_drained(std::int32_t replica);
  void switch_off(std::int32_t replica);
  void autoscale(std::size_t rule);
  void look_at_split();
  void move(std::int32_t replica, PoolRole role);
  void moved(std::int32_t replica);
  [[nodiscard]] bool has_drained(std::int32_t replica) const;
  void take_snapshot();
  void repeat(Timer::Kind kind, std::int64_t key, Duration interval);

  const ClusterSetup& setup_;
  EngineControl& control_;
  Fleet& fleet_;
  Timers& timers_;
  Transfers& transfers_;
  ClusterTotals& totals_;
  UpkeepActions& actions_;
  std::vector<Member> members_;
  std::vector<Scaling> scalings_;
  std::vector<std::int32_t> draining_;
  bool has_snapshot_timer_ = false;
};

}  // namespace inferometer
