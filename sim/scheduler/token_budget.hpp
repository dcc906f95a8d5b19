#pragma once

// What policies have in common that spend one token budget a step, as vLLM V1 does: on the sequences that run
// first, then on the queue; a prompt that does not fit is cut into chunks. They differ in the order of the
// queue and in who is preempted.

#include <cstdint>
#include <vector>

#include "base/config/table.hpp"
#include "sim/batch/replica_view.hpp"
#include "sim/batch/step_plan.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

class TokenBudget {
 public:
  /// The engine keys of such policies.
  static std::vector<Key> keys();
  /// PolicyEntry::step_tokens: the budget. Throws ConfigError for one that cannot work.
  static std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len);

  /// PolicyEntry::caches_prefixes.
  static bool caches_prefixes(const Values& engine);

  TokenBudget(const Values& engine, const EngineLimits& limits);

  /// A whole step: those that run, of whom the last give up their blocks when there are too few, then the
  /// queue, unless somebody had to. O(prefilling + preempted + admitted).
  void plan_step(const ReplicaView& view, StepPlan& plan) const;

  /// Adds the chunks of the sequences that are prefilling, beside all that decode; returns the budget left.
  /// The budget is spent in list order, but only the last of the list can ever be cut by it: what a sequence
  /// wants never grows once another has been admitted behind it. So decodes and chunks can be planned apart.
  /// (With drafted tokens a sequence wants more once it decodes: chunks then get what decodes leave.)
  /// O(prefilling).
  std::int64_t plan_chunks(const ReplicaView& view, StepPlan& plan) const;
  /// Tokens that one prefilling sequence gets of such a budget.
  [[nodiscard]] std::int64_t chunk_of(const ReplicaView& view, SequenceId id, std::int64_t budget) const;

  /// Admits the head of the queue as long as budget, `free` blocks and seats last; who does not fit blocks
  /// those behind. O(admitted).
  void admit(const ReplicaView& view, StepPlan& plan, std::int64_t budget, std::int64_t free) const;

  /// How long a plan that admits nobody stays the same. A head that is blocked stays blocked: by free blocks,
  /// which only get fewer, by seats, or by a budget that the same decodes and chunks use up again. But a
  /// chunk may fill a block that it took a step before, and the head find it in the cache: with room for it,
  /// and chunks beside it, every step is asked for. `arrival_matters`: whether one that finds room could be
  /// admitted, whoever waits.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan,
                                    bool arrival_matters) const;

 private:
  [[nodiscard]] bool has_room(const ReplicaView& view, const StepPlan& plan) const;
  [[nodiscard]] std::int64_t capped(std::int64_t tokens) const;
  bool try_admit(const ReplicaView& view, StepPlan& plan, SequenceId id, const CachedPrefix& cached,
                 std::int64_t& budget, std::int64_t& free) const;
  bool try_load(const ReplicaView& view, StepPlan& plan, SequenceId id, const CachedPrefix& cached,
                std::int64_t& free) const;

  std::int64_t max_num_seqs_;
  std::int64_t budget_;
  std::int64_t long_prefill_threshold_;  // 0: none
  bool full_sequence_gate_;
  bool chunked_;
  bool caches_prefixes_;
  std::int64_t watermark_blocks_;
};

}  // namespace inferometer
