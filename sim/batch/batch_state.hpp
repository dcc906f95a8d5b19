#pragma once

// What is on a replica: the waiting queue, the running sequences in order, their KV blocks. Policies read it
// through ReplicaView; only the replica changes it. With a pipeline, each micro-batch has such a state; they
// share the queue and the blocks. Nothing here walks the running set: every call costs O(1), except where
// said.

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "sim/batch/acceptance_estimate.hpp"
#include "sim/batch/cached_prefix.hpp"
#include "sim/batch/decode_set.hpp"
#include "sim/batch/sequence.hpp"
#include "sim/batch/sequence_store.hpp"
#include "sim/batch/speculation.hpp"
#include "sim/batch/step_plan.hpp"
#include "sim/kvcache/block_pool.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// How the running list is ordered; its tail is preempted first.
enum class RunningOrder {
  admission,  ///< as admitted (vLLM V1)
  arrival,    ///< as they arrived, whenever admitted (vLLM V0, Sarathi-Serve)
};

class BatchState {
 public:
  BatchState(std::shared_ptr<SequenceStore> store, std::optional<std::int64_t> attention_window,
             RunningOrder order);
  /// With a store of its own.
  BatchState(BlockCount blocks, std::int64_t block_size, std::optional<std::int64_t> attention_window,
             RunningOrder order, bool caches_prefixes = false)
      : BatchState(std::make_shared<SequenceStore>(blocks, block_size, caches_prefixes), attention_window,
                   order) {}

  // --- reading ---
  [[nodiscard]] const SequenceStore& store() const { return *store_; }
  [[nodiscard]] const BlockPool& blocks() const { return store_->pool; }
  [[nodiscard]] const DecodeSet& decodes() const { return decodes_; }
  [[nodiscard]] const std::deque<SequenceId>& waiting() const { return store_->waiting; }
  /// False while a sequence of another micro-batch waits for a block.
  [[nodiscard]] bool may_admit() const { return store_->starving == kNoSequence || runs_starving(); }
  /// Whether the sequence that waits for a block runs here.
  [[nodiscard]] bool runs_starving() const { return head_ != kNoSequence && store_->starving == head_; }
  /// Prefilling sequences in running order.
  [[nodiscard]] std::span<const SequenceId> prefilling() const { return prefilling_; }
  /// Prefilling, decoding, or decoding but sitting a step out.
  [[nodiscard]] std::int64_t running_count() const {
    return decodes_.count() + suspended_ + static_cast<std::int64_t>(prefilling_.size());
  }
  [[nodiscard]] SequenceId head() const { return head_; }
  [[nodiscard]] SequenceId tail() const { return tail_; }
  [[nodiscard]] const Sequence& sequence(SequenceId id) const { return store_->sequence(id); }
  /// Tokens whose KV is cached, now.
  [[nodiscard]] std::int64_t computed(SequenceId id) const;
  /// Tokens emitted, now.
  [[nodiscard]] std::int64_t emitted(SequenceId id) const;
  /// Prompt plus emitted tokens, now.
  [[nodiscard]] std::int64_t tokens(SequenceId id) const { return sequence(id).prompt + emitted(id); }
  /// Blocks held, now; between steps.
  [[nodiscard]] std::int64_t held_blocks(SequenceId id) const;
  /// Of those, blocks that nobody else holds but who is about to lose theirs.
  [[nodiscard]] std::int64_t exclusive_blocks(SequenceId id, std::span<const SequenceId> leaving) const;
  /// New blocks that the next decode step of all takes; and this decoding sequence in it.
  [[nodiscard]] std::int64_t decode_blocks_needed() const {
    return drafting_ ? drafting_->blocks_needed : decodes_.blocks_needed();
  }
  [[nodiscard]] std::int64_t blocks_needed(SequenceId id) const;
  /// Blocks of a sequence of which so many tokens are computed or about to be; with lookahead slots.
  [[nodiscard]] std::int64_t blocks_with_lookahead(std::int64_t tokens) const;

  // --- speculation (speculative_decodes.cpp) ---
  /// From now on decodes draft tokens. To be called before anything runs. `max_model_len`: no sequence needs
  /// slots beyond it.
  void speculate(const SpeculationRule& rule, std::int64_t max_model_len);
  [[nodiscard]] bool speculates() const { return drafting_.has_value(); }
  /// So many tokens, at most those of the rule, are drafted for each sequence in the next decode step: counts
  /// the blocks that it takes. To be called before a step is planned. O(running). Precondition: speculates().
  void prepare_drafts(std::int64_t drafts);
  /// How often drafts were right lately. Precondition: speculates().
  [[nodiscard]] double acceptance() const { return drafting_->estimate.value(); }
  /// Drafted tokens of each sequence in the next decode step, or in the one that runs.
  [[nodiscard]] std::int64_t drafts() const { return drafting_ ? drafting_->drafts : 0; }
  /// Takes the blocks of a decode step of all that have not dropped theirs. O(running).
  void take_draft_blocks();
  /// In the step that has just ended, sequences emit what was accepted of their drafts. O(running).
  DraftCounts accept_drafts();

  // --- changing ---
  SequenceStore& store() { return *store_; }
  SequenceId enqueue(const Request& request, std::int64_t output_limit) {
    return store_->enqueue(request, output_limit, 0);
  }
  /// Takes a waiting sequence out for good. O(place in the queue).
  void reject(SequenceId id);
  /// What of a waiting sequence is cached.
  [[nodiscard]] CachedPrefix cached_prefix(SequenceId id);
  /// The blocks of a running sequence that is about to be preempted. It still counts as running.
  void drop_blocks(SequenceId id);
  /// Queues a running sequence that has no blocks any more again (SequenceStore::requeue), keeping what it
  /// has emitted.
  void preempt(SequenceId id);
  // --- swapping (swapping.cpp) ---
  /// A decoding sequence that has no blocks any more keeps its KV in host memory. Returns the blocks it had,
  /// which are copied. O(swapped).
  std::int64_t swap_out(SequenceId id);
  /// The first of those takes blocks, for its next token too, and decodes. Returns the blocks that are
  /// copied. O(place in the running order from its end).
  std::int64_t swap_in(SequenceId id);

  /// A ready sequence, whose KV has come from elsewhere, joins those that decode.
  void join(SequenceId id);
  /// A sequence that is about to be admitted takes the blocks of its cached prefix.
  void hold_prefix(const StepPlan::Admission& admission);
  /// ... and those reserved for it.
  void reserve_blocks(const StepPlan::Admission& admission);
  // --- KV that comes back from host memory and disk (host_loads.cpp) ---
  /// A waiting sequence takes its blocks and leaves the queue. O(place in the queue).
  void take_blocks_to_load(const StepPlan::Admission& load);
  void begin_load(SequenceId id);
  /// The KV of these tokens, behind those that were cached, has come: it waits again, ahead of the others.
  void end_load(SequenceId id, const PrefixSources& found);
  /// Of those that wait with blocks, so loaded, the last gives them up. False when there is none. O(queue).
  bool give_up_a_load();

  /// Moves it from the queue to the running list. O(place in the queue).
  void admit(SequenceId id, TimePoint now);
  /// Takes the blocks that `tokens` more computed tokens of a sequence that prefills, or is about to, need.
  void take_chunk_blocks(SequenceId id, std::int64_t tokens);
  /// Sets a decoding sequence aside for a step it does not take part in. To be put back by resume_decode().
  void suspend_decode(SequenceId id);
  void resume_decode(SequenceId id);
  /// Takes blocks that decode steps need beyond the first.
  void take_blocks(BlockCount count) { store_->pool.take(count); }
  /// Every decoding sequence emits so many tokens, one a step, the first at `first_end`, the last at
  /// `last_end`. Precondition: no sequence has fewer left, no window fills up before the last.
  void advance_decodes(TimePoint first_end, TimePoint last_end, std::int64_t steps);
  /// The chunk has run. When it was the last of the prefill (`emitted`), a token is emitted at `now`, and
  /// the sequence decodes from here unless that token was its last (then `finished` is set and it stays
  /// prefilling).
  struct ChunkEnd {
    bool emitted = false;
    bool finished = false;
    std::optional<Duration> gap;  ///< to the previous token, when it is not the first
  };
  ChunkEnd end_chunk(SequenceId id, std::int64_t tokens, TimePoint now);
  /// A decoding sequence that has emitted its last token, or kNoSequence. Asked again, it names the next one;
  /// each must be finished before the next step.
  [[nodiscard]] SequenceId next_finished() { return decodes_.next_finished(); }
  /// Frees the sequence and its blocks and says what became of it.
  FinishedRequest finish(SequenceId id, TimePoint now);
  /// A sequence of a prompt alone has emitted its token: it stops running, and holds its blocks until they
  /// are released.
  void hand_over(SequenceId id);
  /// Nothing runs any more; the (*) fields of all that ran are exact. The store is to be cleared next.
  /// O(running).
  void stop_running();

 private:
  struct Drafting {
    SpeculationRule rule;
    std::int64_t max_model_len = 0;
    AcceptanceEstimate estimate;
    std::int64_t drafts = 0;         // of each sequence, as of prepare_drafts()
    std::int64_t blocks_needed = 0;  // likewise
  };

  [[nodiscard]] std::int64_t draft_blocks_needed(SequenceId id) const;
  Sequence& at(SequenceId id) { return store_->at(id); }
  void link(SequenceId id);
  void unlink(SequenceId id);
  [[nodiscard]] bool runs_before(SequenceId a, SequenceId b) const;
  void add_prefilling(SequenceId id);
  void remove_prefilling(SequenceId id);
  void leave_decodes(SequenceId id);
  void start_decoding(SequenceId id);

  std::shared_ptr<SequenceStore> store_;
  std::optional<std::int64_t> attention_window_;
  DecodeSet decodes_;
  std::optional<Drafting> drafting_;
  RunningOrder order_;
  std::vector<SequenceId> prefilling_;
  std::vector<SequenceId> first_timers_;  // decode without having emitted a token
  std::int64_t suspended_ = 0;
  SequenceId head_ = kNoSequence;
  SequenceId tail_ = kNoSequence;
};

}  // namespace inferometer
