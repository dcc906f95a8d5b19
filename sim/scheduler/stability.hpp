#pragma once

#include <cstdint>
#include <limits>

namespace inferometer {

/// How long a plan stays its policy's answer, so that the replica can run many steps at once. The policy
/// speaks for itself only: a sequence that emits its last token, a prefill that ends, KV blocks that run out
/// and a price that bends end the stretch without its help.
struct Stability {
  static constexpr std::int64_t kUntilChange = std::numeric_limits<std::int64_t>::max();

  /// Steps, the planned one included, in which plan() would give the same plan again: the same sequences
  /// decode, the same ones run chunks of the same size, and the padding is the same.
  std::int64_t steps = 1;
  /// Whether a request that arrives might change the plan of the step after. False lets it queue unasked:
  /// where the head of the queue is blocked by what only a departure can free, or the batch is closed.
  bool ends_on_arrival = true;

  /// Always right, and only slower.
  static Stability ask_every_step() { return {}; }

  /// For policies that plan from counts and the head of the queue, never from the time: free blocks only get
  /// fewer until somebody leaves, so that a head which was not admitted will not be.
  static Stability until_change(bool ends_on_arrival) { return {kUntilChange, ends_on_arrival}; }
};

}  // namespace inferometer
