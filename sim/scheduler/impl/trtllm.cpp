// TensorRT-LLM: a capacity scheduler says who may hold KV blocks, a micro-batch scheduler says what of it
// runs in the step that comes, and cuts prompts into whole blocks if it must. Scheduling semantics:
// cpp/tensorrt_llm/batch_manager/{capacityScheduler,microBatchScheduler}.cpp (2025).
//
// Three differences are meant. Who may not be evicted is given all its blocks at once, not as it grows:
// whoever is admitted is the same, but blocks set aside count as held. A request that was passed over (its
// chunk would have been less than a block, or it waits for a prefix) and then does not fit waits, where
// max_utilization would pause those that overtook it. And max_utilization looks one step ahead, as without a
// pipeline.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/tail_preemption.hpp"

namespace inferometer {
namespace {

struct Parameters {
  enum class Capacity { guaranteed_no_evict, max_utilization, static_batch };

  Capacity capacity = Capacity::guaranteed_no_evict;
  std::int64_t max_num_seqs = 0;
  std::int64_t max_num_tokens = 0;
  bool chunked = false;
  bool equal_progress = false;
};

class TensorRtLlm : public BatchPolicy {
 public:
  explicit TensorRtLlm(const Parameters& parameters) : parameters_(parameters) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    std::int64_t decodes = view.decode_count();
    const std::int64_t free = preempt_from_tail(view, plan);  // nobody, where all blocks were set aside
    for (const SequenceId id : plan.preempted) {
      decodes -= view.is_decoding(id) ? 1 : 0;
    }
    plan.decode = decodes > 0;
    contexts_.clear();
    for (const SequenceId id : view.prefilling()) {
      if (std::find(plan.preempted.begin(), plan.preempted.end(), id) == plan.preempted.end()) {
        contexts_.push_back({id, view.prefill_left(id), 0, true});
      }
    }
    is_closed_ = true;
    const bool waits_for_batch =
        parameters_.capacity == Parameters::Capacity::static_batch && view.running_count() > 0;
    if (plan.preempted.empty() && !waits_for_batch) {
      find_new_contexts(view, plan, {parameters_.max_num_tokens - decodes, free, 0});
    }
    cut(view, parameters_.max_num_tokens - decodes);
    start(view, plan, free);
  }

  // Who was refused a seat or blocks is refused again: blocks that are free only get fewer, or stay where all
  // are set aside, and so is who was refused tokens, beside the same decodes. Chunks of whole blocks leave
  // different rests.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)view;
    return plan.chunks.empty() ? Stability::until_change(!is_closed_) : Stability::ask_every_step();
  }

  [[nodiscard]] RunningOrder running_order() const override { return RunningOrder::arrival; }

 private:
  /// A prompt that may run in this step.
  struct Context {
    SequenceId id;
    std::int64_t left;    // tokens
    std::int64_t cached;  // tokens, before this step
    bool is_running;
    std::int64_t chunk = 0;
  };
  struct Room {
    std::int64_t tokens, blocks, seats;
  };

  [[nodiscard]] std::int64_t tokens_to_hold(const ReplicaView& view, SequenceId id) const {
    const Sequence& sequence = view.sequence(id);
    return parameters_.capacity == Parameters::Capacity::max_utilization ? view.tokens(id)
                                                                         : sequence.prompt + sequence.max_new;
  }

  [[nodiscard]] std::int64_t blocks_needed(const ReplicaView& view, SequenceId id,
                                           const CachedPrefix& cached) const {
    return view.blocks_for(tokens_to_hold(view, id)) - view.blocks_for(cached.tokens) + cached.idle_blocks;
  }

  // In order of the queue, until one does not fit; a prompt that is cut fits whatever is left of the tokens.
  void find_new_contexts(const ReplicaView& view, const StepPlan& plan, Room room) {
    room.seats = parameters_.max_num_seqs - view.running_count();
    for (const SequenceId id : view.waiting()) {
      if (room.seats <= 0) {
        return;
      }
      const CachedPrefix cached = view.cached_prefix(plan, id);
      const std::int64_t left = view.prefill_left(id) - cached.tokens;
      room.blocks -= blocks_needed(view, id, cached);
      room.tokens -= parameters_.chunked ? 0 : left;
      --room.seats;
      if (room.blocks < 0 || room.tokens < 0) {
        return;
      }
      contexts_.push_back({id, left, cached.tokens, false});
    }
    is_closed_ = room.seats <= 0;
  }

  // How much of each prompt runs. Without chunks all of it fits.
  void cut(const ReplicaView& view, std::int64_t tokens) {
    std::int64_t all = 0;
    for (Context& context : contexts_) {
      context.chunk = context.left;
      all += context.left;
    }
    if (all <= tokens) {
      return;
    }
    if (parameters_.equal_progress) {
      cut_equally(view.block_size(), tokens);
      return;
    }
    for (Context& context : contexts_) {
      if (context.left > tokens) {
        context.chunk = tokens / view.block_size() * view.block_size();
      }
      tokens -= context.chunk;
    }
  }

  // A block to each in turn, as long as the tokens last.
  void cut_equally(std::int64_t unit, std::int64_t tokens) {
    for (Context& context : contexts_) {
      context.chunk = 0;
    }
    for (bool progresses = true; progresses;) {
      progresses = false;
      for (Context& context : contexts_) {
        const std::int64_t more = std::min(unit, context.left - context.chunk);
        if (more > 0 && more <= tokens) {
          context.chunk += more;
          tokens -= more;
          progresses = true;
        }
      }
    }
  }

  // Prompts that would share what one that starts just before them is about to compute are left for the next
  // step, in which they find it.
  void start(const ReplicaView& view, StepPlan& plan, std::int64_t free) {
    for (const Context& context : contexts_) {
      if (context.chunk == 0) {
        continue;
      }
      if (context.is_running) {
        plan.chunks.push_back({context.id, context.chunk});
        continue;
      }
      const CachedPrefix cached = view.cached_prefix(plan, context.id);
      if (cached.tokens > context.cached) {
        continue;
      }
      free -= blocks_needed(view, context.id, cached);
      if (free < 0) {
        return;
      }
      plan.admitted.push_back({context.id, tokens_to_hold(view, context.id), cached.tokens});
      plan.chunks.push_back({context.id, context.chunk});
    }
  }

  Parameters parameters_;
  // Of the step that is planned.
  std::vector<Context> contexts_;
  bool is_closed_ = false;  // nobody who arrives could be admitted beside this plan
};

constexpr std::int64_t kDefaultTokens = 8192;

std::vector<Key> keys() {
  Table table("engine", "");
  table
      .add_choice("capacity_scheduler", {"guaranteed_no_evict", "max_utilization", "static_batch"},
                  "Who may hold KV blocks: requests for which all are set aside that they may ever need; as "
                  "many as fit now, pausing the last when they outgrow it; or a batch that nobody joins")
      .by_default("guaranteed_no_evict");
  table.add("max_num_tokens", ValueType::count, "Token budget of one step, decodes included")
      .optional("8192; the longest sequence where that is longer and prompts are not cut")
      .range("1", "16777216");
  table.add("enable_chunked_context", ValueType::flag, "Cut prompts that do not fit the budget")
      .by_default("false");
  table
      .add_choice(
          "context_chunking_policy", {"first_come_first_served", "equal_progress"},
          "Where prompts are cut: each gets what is left, in whole blocks, or all get a block in turn")
      .by_default("first_come_first_served");
  table
      .add("enable_block_reuse", ValueType::flag,
           "Keep the KV of full blocks for later prompts that begin alike, until the blocks are needed")
      .by_default("true");
  return table.keys();
}

std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len) {
  const bool chunked = engine.flag("enable_chunked_context");
  const std::int64_t tokens = engine.has("max_num_tokens") ? engine.count("max_num_tokens")
                              : chunked                    ? kDefaultTokens
                                                           : std::max(kDefaultTokens, max_model_len);
  const std::int64_t seqs = engine.count("max_num_seqs");
  if (tokens < seqs) {
    throw ConfigError(engine.where("max_num_tokens"),
                      "engine.max_num_tokens must be at least engine.max_num_seqs (" + std::to_string(seqs) +
                          "), so that every running sequence can decode in each step");
  }
  if (chunked && tokens < engine.count("block_size")) {
    throw ConfigError(engine.where("max_num_tokens"),
                      "engine.max_num_tokens must be at least engine.block_size (" +
                          std::to_string(engine.count("block_size")) + "), since prompts are cut at blocks");
  }
  if (!chunked && tokens < max_model_len) {
    throw ConfigError(engine.where("max_num_tokens"),
                      "engine.max_num_tokens must be at least the longest sequence (" +
                          std::to_string(max_model_len) + " tokens) when enable_chunked_context is false");
  }
  return tokens;
}

Parameters::Capacity capacity_from(const std::string& text) {
  if (text == "max_utilization") {
    return Parameters::Capacity::max_utilization;
  }
  return text == "static_batch" ? Parameters::Capacity::static_batch
                                : Parameters::Capacity::guaranteed_no_evict;
}

}  // namespace

PolicyEntry trtllm_policy() {
  return {
      .name = "trtllm",
      .summary =
          "TensorRT-LLM: blocks set aside for all a request may emit, or pauses; its own block_size is "
          "32",
      .keys = keys(),
      .step_tokens = step_tokens,
      .caches_prefixes = [](const Values& engine) { return engine.flag("enable_block_reuse"); },
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<TensorRtLlm>(
            Parameters{.capacity = capacity_from(engine.text("capacity_scheduler")),
                       .max_num_seqs = limits.max_num_seqs,
                       .max_num_tokens = step_tokens(engine, limits.max_model_len),
                       .chunked = engine.flag("enable_chunked_context"),
                       .equal_progress = engine.text("context_chunking_policy") == "equal_progress"});
      },
  };
}

}  // namespace inferometer
