// Sarathi-Serve: every step carries all decodes and fills what is left of a fixed chunk with prefill, so that
// no decode ever waits for a prompt. Scheduling semantics: sarathi/core/scheduler/sarathi_scheduler.py
// (2024).
//
// One difference is meant: a sequence is preempted when it needs a new block and none is free, as in later
// vLLM. Sarathi-Serve's own block manager wants a free block even where the last one has room, and so
// preempts a few steps earlier when memory is short.

#include <algorithm>
#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/tail_preemption.hpp"
#include "sim/scheduler/watermark.hpp"

namespace inferometer {
namespace {

struct Parameters {
  std::int64_t max_num_seqs = 0;
  std::int64_t chunk_size = 0;
  std::int64_t watermark_blocks = 0;
};

class Sarathi : public BatchPolicy {
 public:
  explicit Sarathi(const Parameters& parameters) : parameters_(parameters) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    const std::int64_t free = preempt_from_tail(view, plan);
    std::int64_t decodes = view.decode_count();
    const std::int64_t running = view.running_count() - static_cast<std::int64_t>(plan.preempted.size());
    for (const SequenceId id : plan.preempted) {
      decodes -= view.is_decoding(id) ? 1 : 0;
    }
    plan.decode = decodes > 0;
    const std::int64_t budget = plan_partial_prefills(view, plan, parameters_.chunk_size - decodes);
    admit(view, plan, {budget, free, running});
  }

  // An arrival behind an empty queue may be admitted or rejected; a blocked head is blocked by free blocks,
  // which only get fewer, by the number of sequences, or by a budget that the same decodes and chunks use up
  // again.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)plan;
    return Stability::until_change(view.waiting().empty());
  }

  [[nodiscard]] RunningOrder running_order() const override { return RunningOrder::arrival; }

 private:
  // Blocks for the whole prompt were taken at admission.
  static std::int64_t plan_partial_prefills(const ReplicaView& view, StepPlan& plan, std::int64_t budget) {
    for (const SequenceId id : view.prefilling()) {
      const bool was_preempted =
          std::find(plan.preempted.begin(), plan.preempted.end(), id) != plan.preempted.end();
      const std::int64_t tokens = std::min(view.prefill_left(id), budget);
      if (!was_preempted && tokens > 0) {
        plan.chunks.push_back({id, tokens});
        budget -= tokens;
      }
    }
    return budget;
  }

  struct Room {
    std::int64_t budget, blocks, running;
  };

  // Sequences preempted in this very step head the queue, the last one first, and may come straight back.
  void admit(const ReplicaView& view, StepPlan& plan, Room room) const {
    for (auto id = plan.preempted.rbegin(); id != plan.preempted.rend(); ++id) {
      if (!try_admit(view, plan, room, *id)) {
        return;
      }
    }
    for (const SequenceId id : view.waiting()) {
      const std::int64_t needed = view.blocks_for(view.tokens(id));
      if (view.total_blocks() - needed < parameters_.watermark_blocks) {
        plan.rejected.push_back(id);
      } else if (!try_admit(view, plan, room, id)) {
        return;
      }
    }
  }

  bool try_admit(const ReplicaView& view, StepPlan& plan, Room& room, SequenceId id) const {
    const std::int64_t length = view.tokens(id);
    const std::int64_t needed = view.blocks_for(length);
    if (room.blocks - needed < parameters_.watermark_blocks || room.running == parameters_.max_num_seqs ||
        room.budget <= 0) {
      return false;
    }
    const std::int64_t tokens = std::min(length, room.budget);
    plan.admitted.push_back({id, length});
    plan.chunks.push_back({id, tokens});
    room.blocks -= needed;
    room.budget -= tokens;
    ++room.running;
    return true;
  }

  Parameters parameters_;
};

std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len) {
  (void)max_model_len;
  const std::int64_t chunk_size = engine.count("chunk_size");
  if (chunk_size < engine.count("max_num_seqs")) {
    throw ConfigError(engine.where("chunk_size"),
                      "engine.chunk_size must be at least engine.max_num_seqs (" +
                          std::to_string(engine.count("max_num_seqs")) +
                          "), so that every running sequence can decode in each step");
  }
  return chunk_size;
}

std::vector<Key> keys() {
  Table table("engine", "");
  table.add("chunk_size", ValueType::count, "Token budget of one step, decodes included")
      .by_default("512")
      .range("1", "1048576");
  add_watermark_key(table, "0.01", "Share of all blocks that admission leaves free");
  return table.keys();
}

}  // namespace

PolicyEntry sarathi_policy() {
  return {
      .name = "sarathi",
      .summary = "Sarathi-Serve: all decodes in every step, prefill in what is left of a fixed chunk",
      .keys = keys(),
      .step_tokens = step_tokens,
      .takes_handed_over = true,
      .watermark_blocks = watermark_blocks,
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<Sarathi>(
            Parameters{.max_num_seqs = limits.max_num_seqs,
                       .chunk_size = engine.count("chunk_size"),
                       .watermark_blocks = watermark_blocks(engine, limits.total_blocks)});
      },
  };
}

}  // namespace inferometer
