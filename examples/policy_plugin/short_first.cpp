// Chat does not wait behind documents: of the prompts that wait, the first that is short enough is next, and
// the first of all only where none is. One whole prompt a step, beside all decodes. Documents may wait for
// ever; a limit on that would have to look at the time.

#include <algorithm>

#include "sim/plugin/plugin.hpp"
#include "sim/scheduler/tail_preemption.hpp"

using namespace inferometer;

class ShortFirst : public BatchPolicy {
 public:
  ShortFirst(std::int64_t short_prompt, std::int64_t most) : short_prompt_(short_prompt), most_(most) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;                    // every decoding sequence runs one token
    const std::int64_t free = preempt_from_tail(view, plan);  // ... if blocks run out, without the last ones
    const auto& waiting = view.waiting();
    if (!plan.preempted.empty() || waiting.empty() || view.running_count() >= most_) {
      return;
    }
    const auto chat = std::find_if(waiting.begin(), waiting.end(),
                                   [&](SequenceId id) { return view.sequence(id).prompt <= short_prompt_; });
    const SequenceId next = chat != waiting.end() ? *chat : waiting.front();
    if (view.blocks_for(view.tokens(next)) <= free) {
      plan.admitted.push_back({next});                   // joins the running list, reserves nothing
      plan.chunks.push_back({next, view.tokens(next)});  // and runs its whole prompt
    }
  }

  // Who did not fit will not until somebody leaves, for free blocks only get fewer. A shorter prompt that
  // arrives might.
  Stability stability(const ReplicaView& view, const StepPlan&) const override {
    return Stability::until_change(view.running_count() < most_);
  }

 private:
  std::int64_t short_prompt_, most_;
};

void register_short_first(PluginHost& host) {
  Key key("short_prompt", ValueType::count, "Tokens up to which a prompt goes first");
  host.policies.add({
      .name = "short_first",
      .summary = "one whole prompt a step, short ones first",
      .keys = {key.by_default("1000").range("1")},
      .step_tokens = [](const Values&, std::int64_t max_model_len) { return max_model_len; },
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<ShortFirst>(engine.count("short_prompt"), limits.max_num_seqs);
      },
  });
}
INFEROMETER_PLUGIN(register_short_first)
