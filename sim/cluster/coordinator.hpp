#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster_setup.hpp"
#include "sim/cluster/cluster_totals.hpp"
#include "sim/cluster/engine_control.hpp"
#include "sim/cluster/fleet.hpp"
#include "sim/cluster/handovers.hpp"
#include "sim/cluster/load_book.hpp"
#include "sim/cluster/timers.hpp"
#include "sim/cluster/transfers.hpp"
#include "sim/cluster/upkeep.hpp"

namespace inferometer {

/// Decides everything that is decided between replicas: who gets a request, when its KV goes where, what
/// becomes of it when a replica fails. The engine calls it from its event loop.
class Coordinator final : private LoadSource, private PrefixSource, private UpkeepActions {
 public:
  /// `control` outlives it; its replicas are numbered as the setup's pools say.
  Coordinator(std::shared_ptr<const ClusterSetup> setup, EngineControl& control);
  /// Its parts refer to each other.
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  ~Coordinator() override = default;

  /// To be called once, before anything happens.
  void begin();
  /// A request has come, and the observer knows.
  void arrive(const Request& request);
  /// Steps of a micro-batch of the replica have ended, or (`begun`) begun: what came of it.
  void steps_ended(std::int32_t replica, const Replica& lane);
  void steps_begun(std::int32_t replica, const Replica& lane);
  void timer(std::uint32_t number);
  void transfers_ended();
  /// Something has changed on the replica.
  void load_changed(std::int32_t replica) { loads_.changed(replica); }
  [[nodiscard]] std::optional<TimePoint> next_transfer_end() { return transfers_.next_end(); }

  [[nodiscard]] const ClusterSetup& setup() const { return *setup_; }
  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const ClusterTotals& totals() const { return totals_; }
  [[nodiscard]] const Network* network() const { return transfers_.network(); }
  /// Requests that no replica has at present: prompts on their way, or held until a replica is up.
  [[nodiscard]] std::int64_t in_transit() const { return handovers_ ? handovers_->between() : 0; }
  [[nodiscard]] std::int64_t held() const { return static_cast<std::int64_t>(held_.size()); }

 private:
  [[nodiscard]] ReplicaLoad load(std::int32_t replica) const override;
  [[nodiscard]] std::span<const std::int64_t> tokens_at_least() const override {
    return loads_.tokens_at_least();
  }
  [[nodiscard]] std::int64_t cached_tokens(std::int32_t replica, const Request& request) const override;
  void replica_failed(std::int32_t replica) override;
  void replica_up(std::int32_t replica) override;
  [[nodiscard]] std::int64_t held(PoolRole role) const override;

  void place(const Attempt& attempt);
  void place_whole(const Attempt& attempt, std::int32_t replica);
  void place_split(const Attempt& attempt);
  [[nodiscard]] bool is_prefilled_locally(const Request& request, std::int32_t prefill,
                                          std::int64_t cached_tokens) const;
  [[nodiscard]] std::optional<std::int32_t> overflow(const Request& request);
  [[nodiscard]] std::optional<PoolRole> missing_role() const;
  [[nodiscard]] std::string_view reason_to_refuse(const Request& request, std::int32_t replica) const;
  void hold(const Attempt& attempt);
  void place_held();
  void give_up_without_decode();
  void reject(const Request& request, std::string_view reason);
  void retry_or_lose(const Attempt& attempt, std::int64_t emitted);

  std::shared_ptr<const ClusterSetup> setup_;
  EngineControl& control_;
  ClusterTotals totals_;
  mutable LoadBook loads_;  // looks up what is asked for
  Fleet fleet_;
  Timers timers_;
  Transfers transfers_;
  std::optional<Handovers> handovers_;
  Upkeep upkeep_;
  std::deque<Attempt> held_;
  bool has_begun_ = false;  // a request has come
};

}  // namespace inferometer
