#pragma once

#include <deque>
#include <span>

#include "base/units.hpp"
#include "sim/batch/batch_state.hpp"
#include "sim/batch/cached_prefix.hpp"

namespace inferometer {

/// What a batch policy may see of its replica between two steps: counts and ordered ranges, so that no plan
/// has to walk the running set. Read-only; every call is O(1). A policy must not read Sequence::output, which
/// no scheduler knows, nor the (*) fields of a decoding sequence: the functions here give their present
/// values.
class ReplicaView {
 public:
  /// Without `prefixes` nothing is cached.
  ReplicaView(const BatchState& state, TimePoint now, PrefixLookup* prefixes = nullptr)
      : state_(state),
        waiting_(state.may_admit() ? state.waiting() : kNobody),
        now_(now),
        prefixes_(prefixes) {}

  [[nodiscard]] TimePoint now() const { return now_; }

  [[nodiscard]] std::int64_t block_size() const { return state_.blocks().block_size(); }
  /// Blocks that hold so many tokens.
  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return state_.blocks().blocks_for(tokens);
  }
  [[nodiscard]] std::int64_t total_blocks() const { return state_.blocks().total().count(); }
  [[nodiscard]] std::int64_t free_blocks() const { return state_.blocks().free().count(); }

  /// Head first. Empty when nobody may be admitted at present.
  [[nodiscard]] const std::deque<SequenceId>& waiting() const { return waiting_; }
  /// Sequences whose KV is in host memory (StepPlan::swapped_out), in order of arrival.
  [[nodiscard]] const std::deque<SequenceId>& swapped() const { return state_.store().swapped; }
  /// KV blocks that host memory has room for.
  [[nodiscard]] std::int64_t swap_room() const {
    return state_.store().swap_blocks - state_.store().swap_blocks_taken;
  }
  /// Sequences with an unfinished prefill, in running order.
  [[nodiscard]] std::span<const SequenceId> prefilling() const { return state_.prefilling(); }
  [[nodiscard]] std::int64_t decode_count() const { return state_.decodes().count(); }
  /// Decode steps run so far, or since everything was lost (BatchPolicy::on_cleared()): the clock of policies
  /// whose books change with every step, also of steps for which they were not asked.
  [[nodiscard]] std::int64_t decode_steps() const { return state_.decodes().steps(); }
  /// Prefilling and decoding.
  [[nodiscard]] std::int64_t running_count() const { return state_.running_count(); }
  /// First and last of the running list; kNoSequence when empty. Walk it by Sequence::next and previous.
  [[nodiscard]] SequenceId running_head() const { return state_.head(); }
  [[nodiscard]] SequenceId running_tail() const { return state_.tail(); }

  [[nodiscard]] const Sequence& sequence(SequenceId id) const { return state_.sequence(id); }
  [[nodiscard]] bool is_decoding(SequenceId id) const {
    return sequence(id).state == Sequence::State::decoding;
  }
  /// Prompt plus emitted tokens: what the KV cache must hold (but for the last one) before it can decode.
  [[nodiscard]] std::int64_t tokens(SequenceId id) const { return state_.tokens(id); }
  [[nodiscard]] std::int64_t emitted(SequenceId id) const { return state_.emitted(id); }
  [[nodiscard]] std::int64_t computed(SequenceId id) const { return state_.computed(id); }
  [[nodiscard]] std::int64_t held_blocks(SequenceId id) const { return state_.held_blocks(id); }
  /// Blocks that become free when a running sequence is preempted after those that `plan` preempts: the ones
  /// that it shares with others do not. Asked before any cached_prefix() of this plan.
  [[nodiscard]] std::int64_t blocks_freed_by(const StepPlan& plan, SequenceId id) const {
    return state_.exclusive_blocks(id, plan.preempted);
  }
  /// Tokens a prefilling or waiting sequence must still run before it emits.
  [[nodiscard]] std::int64_t prefill_left(SequenceId id) const { return tokens(id) - computed(id); }

  /// What of a waiting sequence the prefix cache will hold once `plan`, as it stands, is carried out:
  /// what its preemptions free, what its chunks, decodes and admissions take, evict and add counts. So a
  /// sequence may find what one admitted just before it is about to compute. A plan can only be added to
  /// after this was asked: nothing in it may be changed or taken back, and of free blocks only what the
  /// policy has counted itself still holds. O(content runs of its prompt).
  [[nodiscard]] CachedPrefix cached_prefix(const StepPlan& plan, SequenceId id) const {
    return prefixes_ == nullptr ? CachedPrefix{} : prefixes_->find(plan, id);
  }

  /// Tokens that one decode step runs of each decoding sequence: 1, or with k drafted ones k + 1.
  [[nodiscard]] std::int64_t tokens_per_decode() const { return state_.drafts() + 1; }
  /// Of all of them together.
  [[nodiscard]] std::int64_t decode_tokens() const { return decode_count() * tokens_per_decode(); }
  /// New blocks that one decode step of all decoding sequences takes.
  [[nodiscard]] std::int64_t decode_blocks_needed() const { return state_.decode_blocks_needed(); }
  /// How many of them that step gives this decoding sequence.
  [[nodiscard]] std::int64_t blocks_needed(SequenceId id) const { return state_.blocks_needed(id); }
  /// Blocks that a prefilling sequence holds once so many of its tokens are computed: slots that are kept
  /// ahead for drafted tokens included.
  [[nodiscard]] std::int64_t chunk_blocks(std::int64_t tokens) const {
    return state_.blocks_with_lookahead(tokens);
  }
  /// Tokens a decode step attends to with so many cached.
  [[nodiscard]] ContextTokens attended(std::int64_t computed) const {
    return state_.decodes().attended(computed);
  }

 private:
  inline static const std::deque<SequenceId> kNobody;

  const BatchState& state_;
  const std::deque<SequenceId>& waiting_;
  TimePoint now_;
  PrefixLookup* prefixes_;
};

}  // namespace inferometer
