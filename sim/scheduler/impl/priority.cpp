// vLLM V1 with `--scheduling-policy priority`: the token budget of chunked_prefill; the queue is in order of
// priority, then of arrival, and when blocks run out the sequence goes that stands last in that order,
// wherever it runs. Scheduling semantics: vllm/v1/core/sched/scheduler.py (2025-2026).
//
// Nobody who waits takes the place of somebody who runs: a high priority shortens the queue only.

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/tail_preemption.hpp"
#include "sim/scheduler/token_budget.hpp"

namespace inferometer {
namespace {

class Priority : public BatchPolicy {
 public:
  Priority(const TokenBudget& budget, std::int64_t step_tokens)
      : budget_(budget), step_tokens_(step_tokens) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    const std::int64_t budget = budget_.plan_chunks(view, plan);
    std::int64_t free = view.free_blocks() - view.decode_blocks_needed();
    for (const StepPlan::Chunk& chunk : plan.chunks) {
      free -= chunk_blocks_needed(view, chunk);
    }
    if (free >= 0) {
      budget_.admit(view, plan, budget, free);
    } else {
      plan.clear();
      preempt(view, plan);
    }
  }

  // An arrival may become the head.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    return budget_.stability(view, plan, true);
  }

  // Within a priority in order of arrival: those that run came before those that wait, and the last of them
  // is preempted first and returns to the head.
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override { return sequence.priority; }

 private:
  struct Scheduled {
    SequenceId id;
    std::int64_t tokens, blocks;
  };

  // Steps in which blocks run out are rare, and worth the walk along all that runs.
  void preempt(const ReplicaView& view, StepPlan& plan) {
    collect_victims(view);
    scheduled_.clear();
    std::int64_t budget = step_tokens_;
    std::int64_t free = view.free_blocks();
    SequenceId id = view.running_head();
    for (; id != kNoSequence && budget > 0; id = view.sequence(id).next) {
      if (is_preempted(plan, id)) {
        continue;
      }
      const bool decodes = view.is_decoding(id);
      const std::int64_t tokens = decodes ? 1 : budget_.chunk_of(view, id, budget);
      const std::int64_t blocks =
          decodes ? view.blocks_needed(id) : chunk_blocks_needed(view, StepPlan::Chunk{id, tokens});
      while (blocks > free && !is_preempted(plan, id)) {
        const SequenceId victim = victims_[next_victim_++];
        free += view.blocks_freed_by(plan, victim);
        plan.preempted.push_back(victim);
        refund(victim, budget, free);
      }
      if (is_preempted(plan, id)) {
        break;  // nobody behind a sequence that had to go itself runs in this step
      }
      scheduled_.push_back({id, tokens, blocks});
      budget -= tokens;
      free -= blocks;
    }
    fill(view, plan);
  }

  // Last in the order of priority and arrival first.
  void collect_victims(const ReplicaView& view) {
    victims_.clear();
    next_victim_ = 0;
    for (SequenceId id = view.running_head(); id != kNoSequence; id = view.sequence(id).next) {
      victims_.push_back(id);
    }
    std::sort(victims_.begin(), victims_.end(), [&](SequenceId a, SequenceId b) {
      const Sequence& first = view.sequence(a);
      const Sequence& second = view.sequence(b);
      return first.priority != second.priority ? first.priority > second.priority
                                               : first.request_id > second.request_id;
    });
  }

  // What a victim had been given in this step is free again.
  void refund(SequenceId victim, std::int64_t& budget, std::int64_t& free) {
    const auto place = std::find_if(scheduled_.begin(), scheduled_.end(),
                                    [&](const Scheduled& one) { return one.id == victim; });
    if (place != scheduled_.end()) {
      budget += place->tokens;
      free += place->blocks;
      scheduled_.erase(place);
    }
  }

  void fill(const ReplicaView& view, StepPlan& plan) const {
    std::size_t next = 0;
    for (SequenceId id = view.running_head(); id != kNoSequence; id = view.sequence(id).next) {
      const bool runs = next < scheduled_.size() && scheduled_[next].id == id;
      if (runs && !view.is_decoding(id)) {
        plan.chunks.push_back({id, scheduled_[next].tokens});
      } else if (runs) {
        plan.decode = true;
      } else if (view.is_decoding(id) && !is_preempted(plan, id)) {
        plan.decode_except.push_back(id);
      }
      next += runs ? 1 : 0;
    }
    if (!plan.decode) {
      plan.decode_except.clear();
    }
  }

  static bool is_preempted(const StepPlan& plan, SequenceId id) {
    return std::find(plan.preempted.begin(), plan.preempted.end(), id) != plan.preempted.end();
  }

  TokenBudget budget_;
  std::int64_t step_tokens_;
  // Of the step that is planned; kept for their storage.
  std::vector<SequenceId> victims_;
  std::size_t next_victim_ = 0;
  std::vector<Scheduled> scheduled_;
};

}  // namespace

PolicyEntry priority_policy() {
  return {
      .name = "priority",
      .summary =
          "vLLM V1 by priority: as chunked_prefill, lower priorities admitted first and preempted last",
      .keys = TokenBudget::keys(),
      .step_tokens = TokenBudget::step_tokens,
      .takes_handed_over = true,
      .caches_prefixes = TokenBudget::caches_prefixes,
      .overtakes = true,
      .withheld_blocks = 1,  // the null block of vLLM's pool
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<Priority>(TokenBudget(engine, limits),
                                          engine.count("max_num_batched_tokens"));
      },
  };
}

}  // namespace inferometer
