#pragma once

// What an engine that chooses how many tokens to draft knows of its drafter: how often drafts were right
// lately, of all sequences together. Who uses it: BatchState.

#include <cstdint>

#include "sim/batch/speculation.hpp"

namespace inferometer {

/// The share of right ones of the drafts that were looked at, which are those up to the first wrong one of
/// each sequence: the estimate of highest likelihood when all are right with the same probability. Counts are
/// whole numbers and halved now and then, so that it follows traffic that changes, and is the same on every
/// machine.
class AcceptanceEstimate {
 public:
  /// Halved beyond so many drafts: 1024 give a probability to 1.5 percentage points.
  static constexpr std::int64_t kMemory = 1024;
  /// ... and each time after so many steps in which nothing was drafted. An engine that has given drafting up
  /// so tries again some 700 steps later, for a step: a per mille of its time.
  static constexpr std::int64_t kStepsToForget = 64;

  /// What came of a decode step in which so many tokens were drafted for each sequence; 0: none.
  void add(const DraftCounts& step, std::int64_t drafts);

  /// In (0, 1]: as if, before all that is remembered, one draft had been right. Where nothing is known drafts
  /// are taken to be right, as that is soon found out and the contrary never.
  [[nodiscard]] double value() const {
    return static_cast<double>(right_ + 1) / static_cast<double>(looked_at_ + 1);
  }

 private:
  void forget_half();

  std::int64_t right_ = 0;
  std::int64_t looked_at_ = 0;
  std::int64_t steps_without_ = 0;
};

}  // namespace inferometer
