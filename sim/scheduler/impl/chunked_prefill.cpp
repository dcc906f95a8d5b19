// vLLM V1: one token budget a step, spent on running sequences first and then on the queue; a prompt that
// does not fit is cut into chunks. Scheduling semantics: vllm/v1/core/sched/scheduler.py (2025-2026).

#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/token_budget.hpp"

namespace inferometer {
namespace {

class ChunkedPrefill : public BatchPolicy {
 public:
  explicit ChunkedPrefill(const TokenBudget& budget) : budget_(budget) {}

  void plan(const ReplicaView& view, StepPlan& plan) override { budget_.plan_step(view, plan); }

  // Who arrives stands behind a head that is blocked.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    return budget_.stability(view, plan, view.waiting().empty());
  }

 private:
  TokenBudget budget_;
};

}  // namespace

PolicyEntry chunked_prefill_policy() {
  return {
      .name = "chunked_prefill",
      .summary = "vLLM V1: one token budget a step, running sequences first, prompts cut into chunks",
      .keys = TokenBudget::keys(),
      .step_tokens = TokenBudget::step_tokens,
      .takes_handed_over = true,
      .takes_speculation = true,
      .takes_host_kv = true,
      .caches_prefixes = TokenBudget::caches_prefixes,
      .withheld_blocks = 1,  // the null block of vLLM's pool
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<ChunkedPrefill>(TokenBudget(engine, limits));
      },
  };
}

}  // namespace inferometer
