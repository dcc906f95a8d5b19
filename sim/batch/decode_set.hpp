#pragma once

// The sequences of a replica that are past their prefill and emit one token a decode step, kept as
// aggregates: a decode step of any batch size costs O(1), joining and leaving cost O(log batch).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/divisor.hpp"
#include "base/units.hpp"
#include "sim/batch/sequence.hpp"

namespace inferometer {

/// So many sequences saw this gap between one token and the next.
struct TokenGap {
  Duration gap;
  std::int64_t count = 0;
};

class DecodeSet {
 public:
  /// `window`: sliding attention window in tokens; empty for full attention.
  DecodeSet(std::int64_t block_size, std::optional<std::int64_t> window);

  /// Sequences in the set.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Decode steps done since the start.
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Sum over the set of the tokens its next step attends to: min(computed + 1, window).
  [[nodiscard]] std::int64_t context() const { return context_; }
  /// Tokens one sequence with so many cached tokens attends to in its next step.
  [[nodiscard]] std::int64_t attended(std::int64_t computed) const;
  /// Tokens that the next step adds to context(); unchanged for steps_of_same_growth() steps.
  [[nodiscard]] std::int64_t context_growth() const { return unsaturated_; }
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

  /// Takes in a sequence with exact fields whose last token came at `sequence.last_emission`. O(log count).
  void join(Sequence& sequence, SequenceId id);
  /// Takes a member out and makes its (*) fields exact, except held_blocks. O(1) amortised.
  void leave(Sequence& sequence);

  /// All members emit so many tokens, one a step: the first step ends at `first_end`, the last at `last_end`.
  /// The gaps that the first step closes stay readable until the next call; those of the later steps are as
  /// long as the steps. `sequences` is where the members live, by id. Precondition: 1 <= steps <=
  /// steps_to_next_finish() and steps_of_same_growth(). O(changes), whatever the number of steps.
  void advance(TimePoint first_end, TimePoint last_end, std::int64_t steps,
               std::span<const Sequence> sequences);
  [[nodiscard]] std::span<const TokenGap> gaps() const { return gaps_; }

  /// Steps after which the next member has emitted its last token. Precondition: not empty. O(1) amortised.
  [[nodiscard]] std::int64_t steps_to_next_finish(std::span<const Sequence> sequences);
  /// Steps that all add the same to the context: until the next window is full. O(1) amortised.
  [[nodiscard]] std::int64_t steps_of_same_growth(std::span<const Sequence> sequences);

  /// A member that has emitted its last token, or kNoSequence. Asked again, it names the next one; one that
  /// left and joined again may be named twice.
  SequenceId next_finished(std::span<const Sequence> sequences);

 private:
  /// A member emits its last token with that step of the set. One that left early leaves this behind: it is
  /// in force as long as the sequence in that slot is a member that finishes then.
  struct Finish {
    std::int64_t step;
    SequenceId id;
    friend bool operator>(const Finish& a, const Finish& b) { return a.step > b.step; }
  };
  /// After that step of the set a member's window is full, if it is still that member.
  struct Saturation {
    std::int64_t step;
    std::uint64_t serial;
    SequenceId id;
    friend bool operator>(const Saturation& a, const Saturation& b) { return a.step > b.step; }
  };
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
  [[nodiscard]] static std::int64_t finish_step(const Sequence& member);
  [[nodiscard]] static bool in_force(const Finish& finish, std::span<const Sequence> sequences);
  [[nodiscard]] static bool in_force(const Saturation& saturation, std::span<const Sequence> sequences);
  void saturate_due(std::span<const Sequence> sequences);

  Divisor block_size_;
  std::optional<std::int64_t> window_;
  std::int64_t count_ = 0;
  std::int64_t context_ = 0;
  std::int64_t growing_ = 0;      // members that take a new block now and then: the sum of phases_
  std::int64_t unsaturated_ = 0;  // members whose attended context still grows by one a step
  std::int64_t step_ = 0;
  std::uint64_t serial_ = 0;
  std::vector<std::int64_t>
      phases_;  // growing members by (computed - step) mod block size, which never changes
  std::int64_t next_phase_ =
      0;  // the phase whose members need a block in the next step: -step mod block size
  std::vector<Finish> finishes_;         // min-heap
  std::vector<Saturation> saturations_;  // min-heap
  TimePoint last_step_end_;
  std::int64_t veterans_ = 0;     // members whose previous token came with the last decode step
  std::vector<Joiners> joiners_;  // the others, by the time of their previous token
  std::vector<TokenGap> gaps_;
};

}  // namespace inferometer
