#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "sim/replica/observer.hpp"
#include "sim/replica/replica.hpp"

namespace inferometer {

/// What the coordinator of a cluster can have the engine do. The engine owns clock, events and replicas; it
/// calls the coordinator from its loop, and the coordinator calls back.
class EngineControl {
 public:
  virtual ~EngineControl() = default;

  [[nodiscard]] virtual TimePoint now() const = 0;
  [[nodiscard]] virtual SimulationObserver& observer() = 0;
  /// The micro-batches of a replica; one without a pipeline.
  [[nodiscard]] virtual std::span<Replica> lanes(std::int32_t replica) = 0;
  /// Before a replica's queue or blocks are changed from outside (Replica::interrupt()).
  virtual void interrupt(std::int32_t replica, bool always) = 0;
  /// After that: it looks for work when everything else of this moment has happened, never within the call.
  virtual void look_for_work(std::int32_t replica) = 0;
  /// Tokens of a prompt whose KV a replica has in its prefix cache, in whole blocks. O(content runs).
  [[nodiscard]] virtual std::int64_t cached_tokens(std::int32_t replica, const Request& request) = 0;
  /// What a replica caches is brought up to now, for who listens (PrefixCache::listen()).
  virtual void settle_prefixes(std::int32_t replica) = 0;
  /// What happened there changes nothing but what routers see.
  virtual void load_changed(std::int32_t replica) = 0;
  /// Everything on the replica is lost; it is empty then.
  virtual std::vector<Evacuated> fail(std::int32_t replica) = 0;
  /// on_timer() is to be called at that time.
  virtual void set_timer(TimePoint time, std::uint32_t timer) = 0;
  /// The next end of a transfer may have changed.
  virtual void transfers_changed() = 0;
  /// A request left the system otherwise than through a replica's departed().
  virtual void leave(std::int64_t request_id) = 0;
  /// The observer is told, and the request leaves. `is_lost`: it had been taken before.
  void give_up(const Request& request, std::string_view reason, bool is_lost) {
    observer().on_rejected({request.id, request.arrival, now(), request.prompt.count(), reason, is_lost});
    leave(request.id);
  }
  /// Requests that have come and not left.
  [[nodiscard]] virtual std::int64_t in_system() const = 0;
  /// Whether requests are in the system or still to come: what happens at intervals goes on.
  [[nodiscard]] virtual bool is_busy() const = 0;
};

}  // namespace inferometer
