// vLLM V0 without chunked prefill: waiting prompts first, whole, in a step of their own while decodes stand
// still; otherwise all decode. Scheduling semantics: vllm/core/scheduler.py (2023-2024), recompute
// preemption.

#include <algorithm>
#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/tail_preemption.hpp"
#include "sim/scheduler/watermark.hpp"

namespace inferometer {
namespace {

struct Parameters {
  std::int64_t max_num_seqs = 0;
  std::int64_t budget = 0;
  std::int64_t watermark_blocks = 0;
};

class Continuous : public BatchPolicy {
 public:
  explicit Continuous(const Parameters& parameters) : parameters_(parameters) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan_prefills(view, plan);
    if (!plan.chunks.empty() || view.decode_count() == 0) {
      return;
    }
    plan.decode = true;
    preempt_from_tail(view, plan);
  }

  // An arrival behind an empty queue may be admitted or rejected; a blocked head is blocked by free blocks,
  // which only get fewer, or by the number of sequences.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)plan;
    return Stability::until_change(view.waiting().empty());
  }

  [[nodiscard]] RunningOrder running_order() const override { return RunningOrder::arrival; }

 private:
  void plan_prefills(const ReplicaView& view, StepPlan& plan) const {
    std::int64_t budget = parameters_.budget;
    std::int64_t free = view.free_blocks();
    std::int64_t running = view.running_count();
    for (const SequenceId id : view.waiting()) {
      const std::int64_t tokens = view.tokens(id);
      const std::int64_t needed = view.blocks_for(tokens);
      if (tokens > parameters_.budget || view.total_blocks() - needed < parameters_.watermark_blocks) {
        plan.rejected.push_back(id);
        continue;
      }
      if (free - needed < parameters_.watermark_blocks || tokens > budget ||
          running == parameters_.max_num_seqs) {
        break;
      }
      plan.admitted.push_back({id, tokens});
      plan.chunks.push_back({id, tokens});
      free -= needed;
      budget -= tokens;
      ++running;
    }
  }

  Parameters parameters_;
};

constexpr std::int64_t kSmallestBudget = 2048;

std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len) {
  if (!engine.has("max_num_batched_tokens")) {
    return std::max(max_model_len, kSmallestBudget);
  }
  const std::int64_t budget = engine.count("max_num_batched_tokens");
  if (budget < max_model_len) {
    throw ConfigError(
        engine.where("max_num_batched_tokens"),
        "engine.max_num_batched_tokens must be at least the longest sequence (" +
            std::to_string(max_model_len) +
            " tokens), since policy continuous prefills whole prompts; lower engine.max_model_len or "
            "use policy chunked_prefill");
  }
  return budget;
}

std::vector<Key> keys() {
  Table table("engine", "");
  table.add("max_num_batched_tokens", ValueType::count, "Prompt tokens of one prefill step")
      .optional("the larger of max_model_len and 2048, as vLLM sets it")
      .range("1", "16777216");
  add_watermark_key(table, "0.01", "Share of all blocks that admission leaves free");
  return table.keys();
}

}  // namespace

PolicyEntry continuous_policy() {
  return {
      .name = "continuous",
      .summary = "vLLM V0: prompts first and whole, decodes wait meanwhile; preempts by recomputing",
      .keys = keys(),
      .step_tokens = step_tokens,
      .takes_handed_over = true,
      .watermark_blocks = watermark_blocks,
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<Continuous>(
            Parameters{.max_num_seqs = limits.max_num_seqs,
                       .budget = step_tokens(engine, limits.max_model_len),
                       .watermark_blocks = watermark_blocks(engine, limits.total_blocks)});
      },
  };
}

}  // namespace inferometer
