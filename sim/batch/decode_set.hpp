#pragma once

// The sequences of a replica that are past their prefill and emit one token a decode step, kept as
// aggregates: a decode step of any batch size costs O(1), and so do joining and leaving.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/divisor.hpp"
#include "base/units.hpp"
#include "costmodel/step_shape.hpp"
#include "sim/batch/sequence.hpp"
#include "sim/batch/step_calendar.hpp"

namespace inferometer {

/// So many sequences saw this gap between one token and the next.
struct TokenGap {
  Duration gap;
  std::int64_t count = 0;
};

class DecodeSet {
 public:
  /// `window`: sliding attention window in tokens, of all layers or some; empty for full attention.
  DecodeSet(std::int64_t block_size, std::optional<std::int64_t> window);

  /// Decode steps that have been run with this set, whoever was in it.
  [[nodiscard]] std::int64_t steps() const { return step_; }
  /// Sequences in the set.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Sum over the set of the tokens its next step attends to.
  [[nodiscard]] ContextTokens context() const { return context_; }
  /// Tokens one sequence with so many cached tokens attends to in its next step.
  [[nodiscard]] ContextTokens attended(std::int64_t computed) const;
  /// Tokens that the next step adds to context(); unchanged for steps_of_same_growth() steps.
  [[nodiscard]] ContextTokens context_growth() const { return {count_, unsaturated_}; }
  /// New KV blocks that the next step of all takes.
  [[nodiscard]] std::int64_t blocks_needed() const { return phases_[static_cast<std::size_t>(next_phase_)]; }
  /// New KV blocks that step `ahead` from now takes (0: the next one), while nobody joins or leaves.
  [[nodiscard]] std::int64_t blocks_needed_at(std::int64_t ahead) const {
    return phases_[phase_needed_at(ahead)];
  }
  [[nodiscard]] const Divisor& block_size() const { return block_size_; }
  /// New KV blocks that the next block-size steps take, whatever step they start from: one each growing
  /// member.
  [[nodiscard]] std::int64_t growing() const { return growing_; }

  /// Steps `sequence` has decoded since it joined. Precondition: it is a member.
  [[nodiscard]] std::int64_t steps_of(const Sequence& sequence) const { return step_ - sequence.join_step; }
  /// True when the next step gives this member a new block.
  [[nodiscard]] bool needs_block(const Sequence& sequence) const;

  /// Takes in a sequence with exact fields whose last token came at `sequence.last_emission`, if it has
  /// emitted one. O(1).
  void join(Sequence& sequence, SequenceId id);
  /// Takes a member out and makes its (*) fields exact, except held_blocks. O(1) amortised.
  void leave(Sequence& sequence, SequenceId id);

  /// All members emit so many tokens, one a step: the first step ends at `first_end`, the last at `last_end`.
  /// The gaps that the first step closes stay readable until the next call; those of the later steps are as
  /// long as the steps. Precondition: 1 <= steps <= steps_to_next_finish() and steps_of_same_growth().
  /// O(changes), whatever the number of steps.
  void advance(TimePoint first_end, TimePoint last_end, std::int64_t steps);
  [[nodiscard]] std::span<const TokenGap> gaps() const { return gaps_; }
  /// In the step that has just ended, a member emitted so many tokens more than one. Preconditions: it does
  /// not grow (Sequence::grows), and has as many left to emit. O(1).
  void emit_more(Sequence& sequence, SequenceId id, std::int64_t tokens);

  /// Steps after which the next member has emitted its last token. Precondition: not empty. O(1).
  [[nodiscard]] std::int64_t steps_to_next_finish() const { return finishes_.next(step_) - step_; }
  /// Steps that all add the same to the context: until the next window is full. O(1).
  [[nodiscard]] std::int64_t steps_of_same_growth() const {
    return saturations_.empty() ? kForever : saturations_.next(step_) - step_;
  }

  /// A member that has emitted its last token, or kNoSequence. Asked again, it names the next one. Each must
  /// be taken out (leave) before the next step.
  SequenceId next_finished() { return finishes_.take(step_); }

 private:
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  struct Joiners {
    TimePoint emitted;
    std::int64_t count;
  };

  /// Phase of a member that has so many tokens cached now.
  [[nodiscard]] std::size_t phase_of(std::int64_t computed) const;
  /// The phase whose members need a block in step `ahead` from now.
  [[nodiscard]] std::size_t phase_needed_at(std::int64_t ahead) const {
    const std::int64_t phase = next_phase_ - block_size_.remainder(ahead);
    return static_cast<std::size_t>(phase < 0 ? phase + block_size_.value() : phase);
  }
  void saturate_due();

  Divisor block_size_;
  std::optional<std::int64_t> window_;
  std::int64_t count_ = 0;
  ContextTokens context_;
  std::int64_t growing_ = 0;      // members that take a new block now and then: the sum of phases_
  std::int64_t unsaturated_ = 0;  // members whose window is not full yet
  std::int64_t step_ = 0;
  std::vector<std::int64_t>
      phases_;  // growing members by (computed - step) mod block size, which never changes
  std::int64_t next_phase_ =
      0;                      // the phase whose members need a block in the next step: -step mod block size
  StepCalendar finishes_;     // when members emit their last token
  StepCalendar saturations_;  // when windows of members are full
  TimePoint last_step_end_;
  std::int64_t veterans_ = 0;      // members whose previous token came with the last decode step
  std::int64_t first_timers_ = 0;  // members without a previous token
  std::vector<Joiners> joiners_;   // the others, by the time of their previous token
  std::vector<TokenGap> gaps_;
};

}  // namespace inferometer
