#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "sim/batch/sequence.hpp"
#include "sim/kvcache/block_pool.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// What became of a prompt on the replica that computed it.
struct PromptResult {
  std::int32_t replica = 0;
  TimePoint admitted;     ///< to that replica's batch
  TimePoint first_token;  ///< when its prefill ended, and its first token came out
  std::int32_t preemptions = 0;
  PrefixSources cached{}, recached{};
};

/// Where a preempted sequence waits, among those of its rank.
enum class Requeue {
  first,  ///< ahead of all (vLLM)
  last,   ///< behind all (SGLang)
};

/// How a sequence whose KV comes from elsewhere is queued.
struct Expectation {
  std::int64_t order = 0;         ///< KV blocks are given to lower ones first
  bool first_token_here = false;  ///< it is computed here, from the prompt's last token, and not taken over
  std::int32_t retries = 0;
};

/// What the micro-batches of one replica share: its sequences, its queue, its KV blocks. A replica without a
/// pipeline has one micro-batch. O(1) each, except where said.
class SequenceStore {
 public:
  SequenceStore(BlockCount blocks, std::int64_t block_size, bool caches_prefixes = false)
      : pool(blocks, block_size, caches_prefixes) {}

  [[nodiscard]] const Sequence& sequence(SequenceId id) const {
    return sequences[static_cast<std::size_t>(id)];
  }
  Sequence& at(SequenceId id) { return sequences[static_cast<std::size_t>(id)]; }

  SequenceId enqueue(const Request& request, std::int64_t output_limit, std::int32_t retries);
  /// Gives the sequence that was queued last its place: behind all of its rank and of lower ones. O(log
  /// queue) comparisons, and as many moves as it gets ahead of.
  void place_by_rank(std::int64_t rank);
  /// Takes the sequence that was queued last out of the queue, until join_queue().
  void hold_back(std::int64_t steps_begun);
  /// The one that was held back first is queued as place_by_rank() has it.
  void join_queue();
  /// Queues a sequence again that has lost its KV: ahead of all of its rank, or behind them, as `requeue`
  /// says.
  void queue_again(SequenceId id);
  /// Takes a sequence out of the waiting queue. O(place).
  void take_from_queue(SequenceId id);
  void vacate(SequenceId id);
  /// All blocks it holds, the first `computed` tokens of it in them. `recomputes`: it will run again.
  void give_up_blocks(SequenceId id, std::int64_t computed, bool recomputes);

  // --- KV that comes from elsewhere: expected -> loading -> ready, then it decodes ---
  /// O(place from the back).
  SequenceId expect(const Request& request, std::int64_t output_limit, const Expectation& expectation);
  /// Its prompt has been computed; to be told before its KV is here.
  void prompt_computed(SequenceId id, const PromptResult& result);
  [[nodiscard]] static bool is_computed(const Sequence& s) { return s.prefill_replica >= 0; }
  /// Tokens whose KV it must have to decode. Those that are cached here already need not come.
  [[nodiscard]] static std::int64_t tokens_to_load(const Sequence& s) {
    return s.prompt - (s.first_token_here ? 1 : 0);
  }
  /// Whether the first expected sequence may take its blocks while so many must stay free: none that is older
  /// waits for blocks, and nobody is swapped out.
  [[nodiscard]] bool can_load_next(std::int64_t blocks_kept);
  /// Takes the blocks of the first expected sequence.
  SequenceId load_next();
  /// The first expected sequence whose prompt is computed, when it may have to take back blocks to get its
  /// own: all that are held here are held for prompts that are not computed. They may be waiting, where they
  /// are to be computed, for the very blocks that this one holds there. Else kNoSequence. O(place) when there
  /// is one.
  [[nodiscard]] SequenceId computed_in_need() const;
  /// It takes its blocks. Of those whose prompts are not computed, as many as it takes, the last ones first,
  /// lose theirs and are expected again; returns them. O(sequences) for each.
  std::vector<SequenceId> load_at_others_expense(SequenceId id);
  /// All of a loading sequence's KV has come.
  void loaded(SequenceId id, TimePoint now);
  /// The next ready sequence leaves the list, to decode.
  SequenceId take_ready();
  /// Its KV will not come: back to the queue as if preempted, at its head. O(place).
  void recompute(SequenceId id);
  /// It will not come at all: an expected or loading sequence is forgotten. O(place).
  void forget(SequenceId id);

  /// Whether no sequence that runs, or is to run without being admitted, came before this one. O(sequences).
  [[nodiscard]] bool is_oldest(SequenceId id) const;
  /// Sequences that run, in all micro-batches. O(sequences).
  [[nodiscard]] std::int64_t running() const;

  /// Blocks of a sequence that was handed over are free again.
  void release(SequenceId id);

  /// Everything is gone.
  void clear();

  BlockPool pool;
  std::vector<Sequence> sequences;
  std::vector<SequenceId> vacant;
  std::deque<SequenceId> waiting;  ///< by Sequence::rank
  /// Have arrived, but too late for the plan that the engine had made by then.
  struct Joining {
    SequenceId id = kNoSequence;
    std::int64_t steps_begun = 0;  ///< by the replica, when it arrived
  };
  std::deque<Joining> joining;  ///< in order of arrival
  Requeue requeue = Requeue::first;
  TimePoint last_arrival;              ///< latest time at which a sequence that was queued had arrived
  std::deque<SequenceId> expected;     ///< wait for blocks, by Expectation::order
  std::deque<SequenceId> ready;        ///< hold blocks and KV, wait for a seat
  std::deque<SequenceId> swapped;      ///< their KV is in host memory; in order of arrival
  std::int64_t swap_blocks = 0;        ///< that host memory holds for them
  std::int64_t swap_blocks_taken = 0;  ///< ... of them
  std::int64_t loading = 0;            ///< sequences that hold blocks and wait for KV
  std::int64_t promised_blocks = 0;    ///< held by those of them whose prompts are not computed
  std::int64_t computed_expected = 0;  ///< expected sequences whose prompts are computed
  std::int64_t handed_over = 0;        ///< sequences whose KV is still held for another replica
  /// The oldest sequence of all micro-batches, while it waits for a block that others hold: until it has one,
  /// nobody is admitted and no blocks are taken for KV that is to come. Else kNoSequence.
  SequenceId starving = kNoSequence;
  /// Tokens that waiting and prefilling sequences must still run before they emit.
  std::int64_t prefill_left = 0;
  /// Prompt and emitted tokens of all sequences that are here to run, expected ones included; without those
  /// that running steps emit.
  std::int64_t tokens = 0;

 private:
  SequenceId add(const Request& request, std::int64_t output_limit);
  void stop_expecting(SequenceId id);
  void queue_expected(SequenceId id);
  [[nodiscard]] PrefixMatch cached_to_load(SequenceId id);
  [[nodiscard]] std::int64_t free_blocks_to_load(SequenceId id);
  [[nodiscard]] bool only_promises_hold_blocks() const;
  void give_blocks(SequenceId id);
  SequenceId take_back_last();
};

}  // namespace inferometer
