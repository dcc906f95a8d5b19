#pragma once

// How a serving engine decides what to run next. One policy a file in sim/scheduler/impl/, without a header,
// registered by one line in builtin.cpp.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "base/registry.hpp"
#include "sim/batch/replica_view.hpp"
#include "sim/batch/step_plan.hpp"
#include "sim/scheduler/stability.hpp"

namespace inferometer {

/// Called by the replica whenever it is free and something has changed: a step ended, a request arrived, a
/// wake-up that the policy asked for came. Contract:
/// * plan() only decides. It changes nothing but its own bookkeeping; it does not schedule events, touch
///   blocks or write metrics, and never reads how long a request will really be.
/// * What it plans must fit: chunks, reservations and decodes of a plan take at most the free blocks (after
///   its preemptions). The replica checks this and stops the run if it does not hold.
/// * It leaves no work undone: an empty plan while sequences wait or run must name a wake_at. A sequence that
///   can never run must be rejected.
/// * It costs O(what changes): counts and the heads and tails of lists, not a walk over the running set.
class BatchPolicy {
 public:
  virtual ~BatchPolicy() = default;

  /// Fills `plan`, which comes empty.
  virtual void plan(const ReplicaView& view, StepPlan& plan) = 0;

  /// How long the plan just given stays the same; `view` is what plan() saw. Asked after a plan that admits,
  /// preempts and rejects nobody. Overriding it makes a policy fast: steps that would be planned alike are
  /// run at once, with the same results. It must promise no more than holds: `--stepper check` finds out.
  [[nodiscard]] virtual Stability stability(const ReplicaView& view, const StepPlan& plan) const {
    (void)view, (void)plan;
    return Stability::ask_every_step();
  }

  /// A running sequence has emitted its last token and is about to leave; for policies that keep a batch's
  /// books.
  virtual void on_finished(const ReplicaView& view, SequenceId id) { (void)view, (void)id; }

  /// Everything that ran or waited is gone: a policy with books begins new ones.
  virtual void on_cleared() {}

  [[nodiscard]] virtual RunningOrder running_order() const { return RunningOrder::admission; }

  /// Where a sequence waits: behind those of lower rank, and of those of its own behind who came before.
  /// Asked once, when it arrives; it may depend on what a scheduler knows then. Alike for all: in order of
  /// arrival.
  [[nodiscard]] virtual std::int64_t queue_rank(const Sequence& sequence) const {
    (void)sequence;
    return 0;
  }
  /// Where a preempted sequence waits, among those of its rank.
  [[nodiscard]] virtual Requeue requeue() const { return Requeue::first; }
};

/// What a policy is told about the engine it runs in.
struct EngineLimits {
  std::int64_t max_num_seqs = 0;   ///< most sequences running at once
  std::int64_t max_model_len = 0;  ///< longest prompt plus output; the pool has blocks for one such sequence
  std::int64_t block_size = 0;     ///< tokens a KV block holds
  std::int64_t total_blocks = 0;   ///< usable KV blocks
};

/// A policy under its name in a scenario.
struct PolicyEntry {
  std::string name;
  std::string summary;    ///< one sentence, with the system it is modelled on
  std::vector<Key> keys;  ///< parameters beyond those every policy has, in the section `engine`
  std::vector<Table::Variant> variants{};  ///< further ones, that go with a word of one of `keys`
  /// Most tokens that one step may run: sizes activation memory and price tables. May throw ConfigError.
  std::function<std::int64_t(const Values& engine, std::int64_t max_model_len)> step_tokens;
  /// Whether sequences may join the running ones that the policy did not admit: those whose KV comes from a
  /// prefill replica. A policy that takes them preempts when blocks run out.
  bool takes_handed_over = false;
  /// Whether it plans decodes of several tokens, drafted ones to be verified (ReplicaView::decode_tokens()).
  bool takes_speculation = false;
  /// Whether it lets KV be brought from host memory (StepPlan::loads).
  bool takes_host_kv = false;
  /// Whether it may swap sequences out to host memory (StepPlan::swapped_out); the section `engine` then has
  /// `swap_space`. Absent: never.
  std::function<bool(const Values& engine)> swaps{};
  /// Whether blocks keep what they had in them, for later prompts that begin alike. Absent: never.
  std::function<bool(const Values& engine)> caches_prefixes{};
  /// Whether requests that came later may be taken before those that fit as well: fairness is then reported.
  bool overtakes = false;
  /// KV blocks that the modelled engine keeps for itself.
  std::int64_t withheld_blocks = 0;
  /// Blocks that admission always leaves free, of a pool of so many usable ones: a sequence of max_model_len
  /// must fit beside them. Absent: none.
  std::function<std::int64_t(const Values& engine, std::int64_t total_blocks)> watermark_blocks{};
  std::function<std::unique_ptr<BatchPolicy>(const Values& engine, const EngineLimits& limits)> make;
};

using PolicyRegistry = Registry<PolicyEntry>;

/// static, orca, continuous, chunked_prefill, sarathi, sglang, trtllm, priority, shortest_job_first.
void register_builtin_policies(PolicyRegistry& registry);

/// A policy of whole clusters, which splits requests over engines and leaves their batches to a registered
/// policy.
struct EngineSplit {
  std::string policy;     ///< its word; "": there is none
  std::vector<Key> keys;  ///< its own
  std::string inner;      ///< that of `keys` which names the policy of the engines
};

/// The section `engine` of a scenario: keys of every policy, then those of each registered one, then those of
/// `split` with the keys of the policy it takes for its engines.
Table engine_table(const PolicyRegistry& registry, const EngineSplit& split = {});

}  // namespace inferometer
