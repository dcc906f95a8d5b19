// Request-level batching (FasterTransformer, Triton): a batch is formed, prefilled together and decoded until
// its last sequence is done; only then the next one starts.

#include <algorithm>
#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/reservation.hpp"

namespace inferometer {
namespace {

struct Parameters {
  std::int64_t max_num_seqs = 0;
  Reservation reservation;
  Duration wait_window;
  bool padding = true;
};

class StaticBatch : public BatchPolicy {
 public:
  explicit StaticBatch(const Parameters& parameters) : parameters_(parameters) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    if (view.running_count() > 0) {
      plan.decode = true;
      if (parameters_.padding) {
        plan.padding.decodes = finished_;
        plan.padding.decode_context = finished_context_;
      }
      return;
    }
    form_batch(view, plan);
  }

  // Nobody joins a batch that runs.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)view, (void)plan;
    return Stability::until_change(false);
  }

  void on_finished(const ReplicaView& view, SequenceId id) override {
    // Frozen at what its last step attended to: all tokens but the last emitted.
    constexpr std::int64_t kEmittedAndItself = 2;
    ++finished_;
    finished_context_ += view.attended(view.tokens(id) - kEmittedAndItself);
  }

  void on_cleared() override {
    finished_ = 0;
    finished_context_ = {};
  }

 private:
  void form_batch(const ReplicaView& view, StepPlan& plan) {
    if (view.waiting().empty()) {
      return;
    }
    std::int64_t free = view.free_blocks();
    std::int64_t longest = 0;
    for (const SequenceId id : view.waiting()) {
      const std::int64_t reserved = parameters_.reservation.tokens(view.sequence(id));
      const std::int64_t needed = view.blocks_for(reserved);
      if (static_cast<std::int64_t>(plan.admitted.size()) == parameters_.max_num_seqs || needed > free) {
        break;
      }
      plan.admitted.push_back({id, reserved});
      plan.chunks.push_back({id, view.prefill_left(id)});
      longest = std::max(longest, view.prefill_left(id));
      free -= needed;
    }
    const bool is_full = plan.admitted.size() < view.waiting().size() ||
                         static_cast<std::int64_t>(plan.admitted.size()) == parameters_.max_num_seqs;
    const TimePoint deadline = view.sequence(view.waiting().front()).arrival + parameters_.wait_window;
    if (!is_full && view.now() < deadline) {
      plan.clear();
      plan.wake_at = deadline;
      return;
    }
    plan.padding.chunk_tokens = parameters_.padding ? longest : 0;
    finished_ = 0;
    finished_context_ = {};
  }

  Parameters parameters_;
  std::int64_t finished_ = 0;       // sequences of the running batch that are done
  ContextTokens finished_context_;  // tokens their slots still attend to in a padded batch
};

std::vector<Key> keys() {
  Table table("engine", "");
  add_reservation_key(table);
  table
      .add("wait_window", ValueType::duration,
           "How long the first request of an incomplete batch waits for company")
      .by_default("0 s")
      .range("0 s", "1 h");
  table
      .add("static_padding", ValueType::flag,
           "Prompts padded to the longest of the batch, and finished sequences cost as if they went on")
      .by_default("true");
  return table.keys();
}

}  // namespace

PolicyEntry static_policy() {
  return {
      .name = "static",
      .summary =
          "FasterTransformer, Triton: a batch runs until its last sequence is done, then the next starts",
      .keys = keys(),
      .step_tokens = reserving_step_tokens,
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<StaticBatch>(Parameters{.max_num_seqs = limits.max_num_seqs,
                                                        .reservation = reservation_from(engine, limits),
                                                        .wait_window = engine.duration("wait_window"),
                                                        .padding = engine.flag("static_padding")});
      },
  };
}

}  // namespace inferometer
