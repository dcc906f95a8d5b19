#include "sim/scheduler/token_budget.hpp"

#include <algorithm>
#include <string>

#include "sim/scheduler/speculation_keys.hpp"
#include "sim/scheduler/tail_preemption.hpp"
#include "sim/scheduler/watermark.hpp"

namespace inferometer {

std::vector<Key> TokenBudget::keys() {
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

std::int64_t TokenBudget::step_tokens(const Values& engine, std::int64_t max_model_len) {
  const std::int64_t budget = engine.count("max_num_batched_tokens");
  if (budget < engine.count("max_num_seqs")) {
    throw ConfigError(engine.where("max_num_batched_tokens"),
                      "engine.max_num_batched_tokens must be at least engine.max_num_seqs (" +
                          std::to_string(engine.count("max_num_seqs")) +
                          "), so that every running sequence can decode in each step");
  }
  if (const std::int64_t decodes = most_decode_tokens(engine); budget < decodes) {
    throw ConfigError(engine.where("max_num_batched_tokens"),
                      "engine.max_num_batched_tokens must be at least " + std::to_string(decodes) +
                          ", so that every running sequence can verify its " +
                          std::to_string(drafted_tokens(engine)) +
                          " drafted tokens in each step; or engine.max_num_seqs or "
                          "engine.speculation.disable_by_batch_size smaller");
  }
  if (!engine.flag("enable_chunked_prefill") && budget < max_model_len) {
    throw ConfigError(engine.where("max_num_batched_tokens"),
                      "engine.max_num_batched_tokens must be at least the longest sequence (" +
                          std::to_string(max_model_len) + " tokens) when enable_chunked_prefill is false");
  }
  return budget;
}

bool TokenBudget::caches_prefixes(const Values& engine) {
  return engine.flag("enable_prefix_caching");
}

TokenBudget::TokenBudget(const Values& engine, const EngineLimits& limits)
    : max_num_seqs_(limits.max_num_seqs),
      budget_(engine.count("max_num_batched_tokens")),
      long_prefill_threshold_(engine.count("long_prefill_token_threshold")),
      full_sequence_gate_(engine.text("admission") == "full_isl"),
      chunked_(engine.flag("enable_chunked_prefill")),
      caches_prefixes_(caches_prefixes(engine)),
      watermark_blocks_(watermark_blocks(engine, limits.total_blocks)) {
}

std::int64_t TokenBudget::capped(std::int64_t tokens) const {
  return long_prefill_threshold_ > 0 ? std::min(tokens, long_prefill_threshold_) : tokens;
}

std::int64_t TokenBudget::chunk_of(const ReplicaView& view, SequenceId id, std::int64_t budget) const {
  return std::min(capped(view.prefill_left(id)), budget);
}

void TokenBudget::plan_step(const ReplicaView& view, StepPlan& plan) const {
  plan.decode = view.decode_count() > 0;
  const std::int64_t budget = plan_chunks(view, plan);
  const std::int64_t free = preempt_from_tail(view, plan);
  if (plan.preempted.empty()) {
    admit(view, plan, budget, free);
  }
}

std::int64_t TokenBudget::plan_chunks(const ReplicaView& view, StepPlan& plan) const {
  std::int64_t budget = budget_ - view.decode_tokens();
  for (const SequenceId id : view.prefilling()) {
    const std::int64_t tokens = chunk_of(view, id, budget);
    if (tokens > 0) {
      plan.chunks.push_back({id, tokens});
      budget -= tokens;
    }
  }
  return budget;
}

void TokenBudget::admit(const ReplicaView& view, StepPlan& plan, std::int64_t budget,
                        std::int64_t free) const {
  std::int64_t running = view.running_count();
  for (const SequenceId id : view.waiting()) {
    if (budget <= 0 || running == max_num_seqs_) {
      return;
    }
    const CachedPrefix cached = view.cached_prefix(plan, id);
    if (cached.loadable_tokens > 0) {
      if (!try_load(view, plan, id, cached, free)) {
        return;
      }
    } else if (try_admit(view, plan, id, cached, budget, free)) {
      ++running;
    } else {
      return;
    }
  }
}

// It must find room for all of it, as whoever is admitted: a head of the queue that is blocked is blocked
// either way, and stays so.
bool TokenBudget::try_load(const ReplicaView& view, StepPlan& plan, SequenceId id, const CachedPrefix& cached,
                           std::int64_t& free) const {
  const std::int64_t saved = view.blocks_for(cached.tokens) - cached.idle_blocks;
  const bool something_runs = plan.decode || !plan.chunks.empty();
  if (view.blocks_for(view.tokens(id)) - saved + (something_runs ? watermark_blocks_ : 0) > free) {
    return false;
  }
  const std::int64_t present = cached.tokens + cached.loadable_tokens;
  plan.loads.push_back({id, present, cached.tokens});
  free -= view.blocks_for(present) - saved;
  return true;
}

bool TokenBudget::try_admit(const ReplicaView& view, StepPlan& plan, SequenceId id,
                            const CachedPrefix& cached, std::int64_t& budget, std::int64_t& free) const {
  const std::int64_t wanted = capped(view.prefill_left(id) - cached.tokens);
  if (!chunked_ && wanted > budget) {
    return false;
  }
  const std::int64_t tokens = std::min(wanted, budget);
  // Of the cached blocks it takes those from the free ones that nobody holds; it may hold blocks already,
  // with KV from host memory.
  const std::int64_t saved = view.blocks_for(cached.tokens) - cached.idle_blocks + view.held_blocks(id);
  const std::int64_t needed = view.chunk_blocks(view.computed(id) + cached.tokens + tokens) - saved;
  const std::int64_t gate =
      full_sequence_gate_ ? std::max(needed, view.blocks_for(view.tokens(id)) - saved) : needed;
  const bool something_runs = plan.decode || !plan.chunks.empty();
  if (gate + (something_runs ? watermark_blocks_ : 0) > free) {
    return false;
  }
  plan.admitted.push_back({id, 0, cached.tokens});
  plan.chunks.push_back({id, tokens});
  budget -= tokens;
  free -= needed;
  return true;
}

Stability TokenBudget::stability(const ReplicaView& view, const StepPlan& plan, bool arrival_matters) const {
  if (!has_room(view, plan)) {
    return Stability::until_change(false);
  }
  if (caches_prefixes_ && !plan.chunks.empty() && !view.waiting().empty()) {
    return Stability::ask_every_step();
  }
  return Stability::until_change(arrival_matters);
}

// Beside this plan, for one more sequence: the same until somebody leaves or a prefill ends.
bool TokenBudget::has_room(const ReplicaView& view, const StepPlan& plan) const {
  std::int64_t budget = budget_ - view.decode_tokens();
  for (const StepPlan::Chunk& chunk : plan.chunks) {
    budget -= chunk.tokens;
  }
  return budget > 0 && view.running_count() < max_num_seqs_;
}

}  // namespace inferometer
