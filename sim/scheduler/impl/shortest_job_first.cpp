// Shortest job first: vLLM V1's token budget, with a queue in which short jobs overtake long ones. How long a
// job is, a scheduler only knows as far as the client said: its prompt, or the tokens it allowed.
//
// A job that waits gets shorter by a fixed number of tokens a second. All that wait age alike, so that who is
// ahead of whom never changes: length - ageing * (now - arrival) orders as length + ageing * arrival does.

#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/token_budget.hpp"

namespace inferometer {
namespace {

class ShortestJobFirst : public BatchPolicy {
 public:
  ShortestJobFirst(const TokenBudget& budget, bool by_prompt, std::int64_t ageing_per_second)
      : budget_(budget), by_prompt_(by_prompt), ageing_per_second_(ageing_per_second) {}

  void plan(const ReplicaView& view, StepPlan& plan) override { budget_.plan_step(view, plan); }

  // An arrival may become the head.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    return budget_.stability(view, plan, true);
  }

  // In millionths of a token: 2^24 tokens and 10^5 tokens a second for 106 days stay below 2^60.
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override {
    constexpr std::int64_t kMillionths = 1'000'000;
    constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
    const std::int64_t length = by_prompt_ ? sequence.prompt : sequence.max_new;
    const std::int64_t arrival_us = sequence.arrival.since_start().count() / kPicosecondsPerMicrosecond;
    return length * kMillionths + ageing_per_second_ * arrival_us;
  }

 private:
  TokenBudget budget_;
  bool by_prompt_;
  std::int64_t ageing_per_second_;
};

std::vector<Key> keys() {
  Table table("engine", "");
  table
      .add_choice("shortest_by", {"max_new_tokens", "prompt"},
                  "What makes a job short: the tokens its client allowed, or its prompt")
      .by_default("max_new_tokens");
  table
      .add("ageing", ValueType::count,
           "Tokens by which a second of waiting makes a job shorter, so that long ones get their turn; 0: "
           "they may starve")
      .by_default("0")
      .range("0", "100000");
  std::vector<Key> keys = TokenBudget::keys();
  for (const Key& key : table.keys()) {
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

PolicyEntry shortest_job_first_policy() {
  return {
      .name = "shortest_job_first",
      .summary = "Ours: as chunked_prefill, but short jobs are admitted before long ones, which may age",
      .keys = keys(),
      .step_tokens = TokenBudget::step_tokens,
      .takes_handed_over = true,
      .caches_prefixes = TokenBudget::caches_prefixes,
      .overtakes = true,
      .withheld_blocks = 1,  // as chunked_prefill, to be compared with it
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<ShortestJobFirst>(
            TokenBudget(engine, limits), engine.text("shortest_by") == "prompt", engine.count("ageing"));
      },
  };
}

}  // namespace inferometer
