#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "sim/cluster/engine_control.hpp"

namespace inferometer {

/// Something that a coordinator wants to come back to.
struct Timer {
  enum class Kind : std::uint8_t {
    deliver,    ///< a prompt's hop to its decode replica is over (key: request, value: attempt)
    push,       ///< the first layers of a chunk are computed (key: request, value: attempt)
    abort,      ///< nobody has fetched a prompt's KV (key: request, value: attempt)
    befall,     ///< a failure or drain of the schedule (key: its number)
    start,      ///< a replica comes back (key: replica)
    boot,       ///< a replica has booted (key: replica, value: which start)
    autoscale,  ///< (key: number of the rule)
    split,      ///< look at the split of the pools
    move,       ///< a replica has drained for another pool (key: replica)
    snapshot,   ///< routers learn of the replicas
  };
  Kind kind{};
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t bytes = 0;  ///< of a push: of the whole prompt, there to be sent from now on
};

/// Timers under way, by the numbers under which the engine brings them back. O(1) each.
class Timers {
 public:
  explicit Timers(EngineControl& control) : control_(control) {}

  void set(TimePoint time, const Timer& timer) {
    std::uint32_t slot = 0;
    if (vacant_.empty()) {
      slot = static_cast<std::uint32_t>(timers_.size());
      timers_.push_back(timer);
    } else {
      slot = vacant_.back();
      vacant_.pop_back();
      timers_[slot] = timer;
    }
    control_.set_timer(time, slot);
  }
  /// The timer of that number has gone off and is set no more.
  Timer take(std::uint32_t slot) {
    vacant_.push_back(slot);
    return timers_[slot];
  }

 private:
  EngineControl& control_;
  std::vector<Timer> timers_;
  std::vector<std::uint32_t> vacant_;
};

}  // namespace inferometer
