// Shortest prompt first: one whole prompt a step, the shortest that waits, beside all decodes.

#include "shortest_prompt_first.hpp"

#include <algorithm>
#include <memory>

#include "sim/scheduler/tail_preemption.hpp"

namespace inferometer {
namespace {

class ShortestPromptFirst : public BatchPolicy {
 public:
  explicit ShortestPromptFirst(std::int64_t max_num_seqs) : max_num_seqs_(max_num_seqs) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    const std::int64_t free = preempt_from_tail(view, plan);
    if (!plan.preempted.empty() || view.waiting().empty() || view.running_count() == max_num_seqs_) {
      return;
    }
    // Walks the queue, not the running set: queues are short while a system is stable.
    const auto shortest =
        std::min_element(view.waiting().begin(), view.waiting().end(),
                         [&](SequenceId a, SequenceId b) { return view.tokens(a) < view.tokens(b); });
    const std::int64_t tokens = view.tokens(*shortest);
    if (view.blocks_for(tokens) <= free) {
      plan.admitted.push_back({*shortest, 0});
      plan.chunks.push_back({*shortest, tokens});
    }
  }

  // Who could not be admitted now cannot be until somebody leaves, for free blocks only get fewer. A shorter
  // prompt that arrives could, unless no sequence may join at all.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan&) const override {
    return Stability::until_change(view.running_count() < max_num_seqs_);
  }

 private:
  std::int64_t max_num_seqs_;
};

}  // namespace
}  // namespace inferometer

inferometer::PolicyEntry shortest_prompt_first_policy() {
  using namespace inferometer;
  return {
      .name = "shortest_prompt_first",
      .summary = "one whole prompt a step, the shortest that waits",
      .keys = {},
      .step_tokens = [](const Values&, std::int64_t max_model_len) { return max_model_len; },
      .make = [](const Values&, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<ShortestPromptFirst>(limits.max_num_seqs);
      },
  };
}
