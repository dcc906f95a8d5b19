#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "sim/cluster/engine_control.hpp"
#include "sim/router/router.hpp"

namespace inferometer {

/// Loads of all replicas side by side, so that asking everyone for every request stays cheap: a replica is
/// looked at again only when something has changed there or one of its steps has ended since.
class LoadBook {
 public:
  /// `control` outlives it.
  LoadBook(EngineControl& control, std::int32_t replicas);

  /// To be told whenever steps, queue or blocks of a replica have changed, before the next look at any load.
  void changed(std::int32_t replica);
  /// At the present time, without `outstanding`. O(1); O(micro-batches) for the first time after a change or
  /// the end of a step.
  const ReplicaLoad& load(std::int32_t replica);
  /// By replica: at most load().tokens, likely so many. Valid until a load is asked for.
  [[nodiscard]] std::span<const std::int64_t> tokens_at_least() const { return tokens_at_least_; }

 private:
  void look_at(std::int32_t replica);

  EngineControl& control_;
  std::vector<ReplicaLoad> loads_;
  std::vector<std::int64_t> tokens_at_least_;
  std::vector<TimePoint> known_until_;  // when the step under way ends; 0 after a change
};

}  // namespace inferometer
