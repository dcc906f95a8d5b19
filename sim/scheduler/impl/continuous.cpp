// vLLM V0 without chunked prefill: waiting prompts first, whole, in a step of their own while decodes stand
// still; otherwise all decode. Preemption by recomputing, as V0 has it for single sequences, or by swapping
// to host memory, as its option preemption_mode forces it to. Scheduling semantics: vllm/core/scheduler.py
// (2023-2024).

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
  bool swaps = false;
};

class Continuous : public BatchPolicy {
 public:
  explicit Continuous(const Parameters& parameters) : parameters_(parameters) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    if (view.swapped().empty()) {
      plan_prefills(view, plan);
    }
    if (!plan.chunks.empty()) {
      return;
    }
    plan.decode = true;
    const std::int64_t free = preempt_from_tail(view, plan);
    if (plan.preempted.empty()) {
      plan_swaps_in(view, free, plan);
    } else if (parameters_.swaps) {
      plan_swaps_out(view, plan);
    }
    plan.decode = view.decode_count() > 0 || !plan.swapped_in.empty();
  }

  // An arrival behind an empty queue may be admitted or rejected; a blocked head is blocked by free blocks,
  // which only get fewer, or by the number of sequences. So is the first of those that are swapped out, and
  // nobody is admitted before it.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)plan;
    return Stability::until_change(view.waiting().empty() && view.swapped().empty());
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

  /// All victims whose KV host memory has room for.
  static void plan_swaps_out(const ReplicaView& view, StepPlan& plan) {
    std::int64_t room = view.swap_room();
    for (const SequenceId id : plan.preempted) {
      const std::int64_t blocks = view.held_blocks(id);
      if (blocks <= room) {
        plan.swapped_out.push_back(id);
        room -= blocks;
      }
    }
  }

  /// `free`: blocks left once all that decode have theirs.
  void plan_swaps_in(const ReplicaView& view, std::int64_t free, StepPlan& plan) const {
    std::int64_t running = view.running_count();
    for (const SequenceId id : view.swapped()) {
      free -= view.blocks_for(view.computed(id) + 1);
      if (free < parameters_.watermark_blocks || running == parameters_.max_num_seqs) {
        return;
      }
      plan.swapped_in.push_back(id);
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
  table
      .add_choice(
          "preemption_mode", {"recompute", "swap"},
          "What becomes of the KV of a preempted sequence: lost, and computed again, or copied to host "
          "memory and back")
      .by_default("recompute");
  return table.keys();
}

std::vector<Key> swap_keys() {
  Table table("engine", "");
  table
      .add("swap_space", ValueType::bytes,
           "Host memory for preempted sequences, for each GPU of a replica; what does not fit is computed "
           "again and counted, where vLLM V0 stops with an error")
      .by_default("4 GiB");
  return table.keys();
}

bool swaps(const Values& engine) {
  return engine.text("preemption_mode") == "swap";
}

}  // namespace

PolicyEntry continuous_policy() {
  return {
      .name = "continuous",
      .summary =
          "vLLM V0: prompts first and whole, decodes wait meanwhile; preempts by recomputing or "
          "swapping",
      .keys = keys(),
      .variants = {{"preemption_mode", "swap", swap_keys()}},
      .step_tokens = step_tokens,
      .takes_handed_over = true,
      .swaps = swaps,
      .watermark_blocks = watermark_blocks,
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<Continuous>(
            Parameters{.max_num_seqs = limits.max_num_seqs,
                       .budget = step_tokens(engine, limits.max_model_len),
                       .watermark_blocks = watermark_blocks(engine, limits.total_blocks),
                       .swaps = swaps(engine)});
      },
  };
}

}  // namespace inferometer
