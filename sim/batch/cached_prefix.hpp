#pragma once

#include <cstdint>

#include "sim/batch/sequence.hpp"
#include "sim/batch/step_plan.hpp"

namespace inferometer {

/// Of a sequence that is to be computed, the first tokens whose KV is in the prefix cache: whole blocks, and
/// fewer tokens than it has, since the last one has to run to give the next.
struct CachedPrefix {
  std::int64_t tokens = 0;
  /// Of its blocks, those that no sequence holds: they count as free until it takes them.
  std::int64_t idle_blocks = 0;
  /// Tokens behind them whose KV is to be brought from host memory before the sequence runs: whole blocks.
  std::int64_t loadable_tokens = 0;
};

/// Who answers ReplicaView::cached_prefix().
class PrefixLookup {
 public:
  virtual ~PrefixLookup() = default;
  virtual CachedPrefix find(const StepPlan& plan, SequenceId id) = 0;
};

}  // namespace inferometer
