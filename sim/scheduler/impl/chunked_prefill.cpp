// vLLM V1: one token budget a step, spent on running sequences first and then on the queue; a prompt that
// does not fit is cut into chunks. Scheduling semantics: vllm/v1/core/sched/scheduler.py (2025-2026).

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
  std::int64_t long_prefill_threshold = 0;  // 0: none
  bool full_sequence_gate = true;
  bool chunked = true;
  std::int64_t watermark_blocks = 0;
};

class ChunkedPrefill : public BatchPolicy {
 public:
  explicit ChunkedPrefill(const Parameters& parameters) : parameters_(parameters) {}

  // The budget is spent in list order, but only the last of the list can ever be cut by it: what a sequence
  // wants never grows once another has been admitted behind it. So decodes and chunks can be planned apart.
  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    const std::int64_t budget = plan_chunks(view, plan, parameters_.budget - view.decode_count());
    const std::int64_t free = preempt_from_tail(view, plan);
    if (plan.preempted.empty()) {
      admit(view, plan, budget, free);
    }
  }

  // A head that is blocked stays blocked: by free blocks, which only get fewer, by the number of sequences,
  // or by a budget that the same decodes and chunks use up again. Where the number of sequences or the budget
  // would block any head, an arrival changes nothing either.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    std::int64_t budget = parameters_.budget - view.decode_count();
    for (const StepPlan::Chunk& chunk : plan.chunks) {
      budget -= chunk.tokens;
    }
    return Stability::until_change(view.waiting().empty() && budget > 0 &&
                                   view.running_count() < parameters_.max_num_seqs);
  }

 private:
  [[nodiscard]] std::int64_t capped(std::int64_t tokens) const {
    const std::int64_t threshold = parameters_.long_prefill_threshold;
    return threshold > 0 ? std::min(tokens, threshold) : tokens;
  }
  [[nodiscard]] std::int64_t capped(std::int64_t tokens, std::int64_t budget) const {
    return std::min(capped(tokens), budget);
  }

  std::int64_t plan_chunks(const ReplicaView& view, StepPlan& plan, std::int64_t budget) const {
    for (const SequenceId id : view.prefilling()) {
      const std::int64_t tokens = capped(view.prefill_left(id), budget);
      if (tokens > 0) {
        plan.chunks.push_back({id, tokens});
        budget -= tokens;
      }
    }
    return budget;
  }

  void admit(const ReplicaView& view, StepPlan& plan, std::int64_t budget, std::int64_t free) const {
    std::int64_t running = view.running_count();
    for (const SequenceId id : view.waiting()) {
      if (budget <= 0 || running == parameters_.max_num_seqs) {
        break;
      }
      const CachedPrefix cached = view.cached_prefix(plan, id);
      const std::int64_t wanted = capped(view.prefill_left(id) - cached.tokens);
      if (!parameters_.chunked && wanted > budget) {
        break;
      }
      const std::int64_t tokens = std::min(wanted, budget);
      const std::int64_t shared = view.blocks_for(cached.tokens) - cached.idle_blocks;
      const std::int64_t needed = view.blocks_for(cached.tokens + tokens) - shared;
      const std::int64_t gate =
          parameters_.full_sequence_gate ? view.blocks_for(view.tokens(id)) - shared : needed;
      const bool something_runs = plan.decode || !plan.chunks.empty();
      if (gate + (something_runs ? parameters_.watermark_blocks : 0) > free) {
        break;
      }
      plan.admitted.push_back({id, 0, cached.tokens});
      plan.chunks.push_back({id, tokens});
      budget -= tokens;
      free -= needed;
      ++running;
    }
  }

  Parameters parameters_;
};

std::vector<Key> keys() {
  Table table("engine", "");
  table.add("max_num_batched_tokens", ValueType::count, "Token budget of one step, decodes included")
      .by_default("2048")
      .range("1", "1048576");
  table
      .add("long_prefill_token_threshold", ValueType::count,
           "Longest chunk of one prompt in one step, so that short prompts get past it; 0: no limit")
      .by_default("0")
      .range("0", "1048576");
  table.add("enable_chunked_prefill", ValueType::flag, "Cut prompts that do not fit the budget")
      .by_default("true");
  table
      .add_choice(
          "admission", {"full_isl", "first_chunk"},
          "Blocks that must be free to admit a prompt: for all of it (vLLM since March 2026) or its first "
          "chunk (before)")
      .by_default("full_isl");
  table
      .add("enable_prefix_caching", ValueType::flag,
           "Keep the KV of full blocks for later prompts that begin alike, until the blocks are needed")
      .by_default("true");
  add_watermark_key(table, "0", "Share of all blocks that admission leaves free while something runs");
  return table.keys();
}

std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len) {
  const std::int64_t budget = engine.count("max_num_batched_tokens");
  if (budget < engine.count("max_num_seqs")) {
    throw ConfigError(engine.where("max_num_batched_tokens"),
                      "engine.max_num_batched_tokens must be at least engine.max_num_seqs (" +
                          std::to_string(engine.count("max_num_seqs")) +
                          "), so that every running sequence can decode in each step");
  }
  if (!engine.flag("enable_chunked_prefill") && budget < max_model_len) {
    throw ConfigError(engine.where("max_num_batched_tokens"),
                      "engine.max_num_batched_tokens must be at least the longest sequence (" +
                          std::to_string(max_model_len) + " tokens) when enable_chunked_prefill is false");
  }
  return budget;
}

}  // namespace

PolicyEntry chunked_prefill_policy() {
  return {
      .name = "chunked_prefill",
      .summary = "vLLM V1: one token budget a step, running sequences first, prompts cut into chunks",
      .keys = keys(),
      .step_tokens = step_tokens,
      .takes_handed_over = true,
      .caches_prefixes = [](const Values& engine) { return engine.flag("enable_prefix_caching"); },
      .withheld_blocks = 1,  // the null block of vLLM's pool
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<ChunkedPrefill>(
            Parameters{.max_num_seqs = limits.max_num_seqs,
                       .budget = engine.count("max_num_batched_tokens"),
                       .long_prefill_threshold = engine.count("long_prefill_token_threshold"),
                       .full_sequence_gate = engine.text("admission") == "full_isl",
                       .chunked = engine.flag("enable_chunked_prefill"),
                       .watermark_blocks = watermark_blocks(engine, limits.total_blocks)});
      },
  };
}

}  // namespace inferometer
