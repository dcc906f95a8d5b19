// Decodes that a plan leaves out of a step sit it out: nothing emitted, nothing lost, counted as running.

#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

/// Prefills everything at once, then lets the odd-numbered decodes sit out every second step, and all but one
/// of the others never.
class EverySecondStep : public BatchPolicy {
 public:
  void plan(const ReplicaView& view, StepPlan& plan) override {
    for (const SequenceId id : view.waiting()) {
      plan.admitted.push_back({id, 0});
      plan.chunks.push_back({id, view.prefill_left(id)});
    }
    plan.decode = view.decode_count() > 0;
    ++steps_;
    std::int64_t decodes = view.decode_count();
    for (SequenceId id = view.running_head(); id != kNoSequence; id = view.sequence(id).next) {
      if (steps_ % 2 == 0 && view.is_decoding(id) && view.sequence(id).request_id % 2 == 1 && decodes > 1) {
        plan.decode_except.push_back(id);
        --decodes;
      }
    }
  }

 private:
  int steps_ = 0;
};

class Watch : public SimulationObserver {
 public:
  void on_steps(const StepRecord& step) override {
    running.push_back(step.running);
    decodes.push_back(step.decodes);
    contexts.push_back(step.shape.decode_context);
    held.push_back(step.held_blocks.count());
    std::map<std::int64_t, std::int64_t>& entry = gaps.emplace_back();
    for (const TokenGap& gap : step.gaps) {
      entry[gap.gap.count() / 1'000'000] += gap.count;
    }
  }
  void on_finished(const FinishedRequest& request) override {
    done[request.id] = request.finished.since_start().count() / 1'000'000;
  }
  std::vector<std::int64_t> running, decodes, contexts, held;
  std::vector<std::map<std::int64_t, std::int64_t>> gaps;  ///< microseconds -> how many
  std::map<std::int64_t, std::int64_t> done;
};

TEST_CASE("a decode left out of a step sits it out and is still running") {
  // Requests 0 (3+4) and 1 (4+3), 4 tokens a block, 10 us + 1 us a token; request 2 (1+1) arrives during
  // step 2. step         0                      1                           blocks 1  0-17      3 of 3 4 of 4
  // 1 + 1 2  17-28     decode, attends to 4   sits out                    1 + 1 3  28-41     decode, attends
  // to 5   decode, attends to 5        2 + 2, and request 2's prefill: 1 4  41-52     decode, 6, end sits out
  // 2 + 2 5  52-63                            decode, 6, end                  2
  Watch watch;
  ReplicaConfig config;
  config.block_size = 4;
  config.blocks = BlockCount(10);
  config.max_model_len = 40;
  std::vector<Replica> replicas;
  replicas.emplace_back(config, std::make_unique<EverySecondStep>(), make_test_pricer({}), watch);
  Simulation simulation(make_list_workload({request_at(0, 3, 4), request_at(0, 4, 3), request_at(20, 1, 1)}),
                        std::move(replicas), watch);
  while (simulation.run(1)) {
    const Census census = simulation.census();
    CAPTURE(simulation.now().since_start().count());
    REQUIRE(census.injected == census.completed + census.running + census.waiting + census.rejected);
  }
  CHECK(watch.running == std::vector<std::int64_t>{2, 2, 3, 2, 1});
  CHECK(watch.decodes == std::vector<std::int64_t>{0, 1, 2, 1, 1});
  CHECK(watch.contexts == std::vector<std::int64_t>{0, 4, 10, 6, 6});
  CHECK(watch.held == std::vector<std::int64_t>{2, 2, 5, 4, 2});
  // Request 1 has waited for its second token since 17, for its third since 41.
  using Gaps = std::map<std::int64_t, std::int64_t>;
  CHECK(watch.gaps == std::vector<Gaps>{{}, {{11, 1}}, {{13, 1}, {24, 1}}, {{11, 1}}, {{22, 1}}});
  CHECK(watch.done == Gaps{{0, 52}, {1, 63}, {2, 41}});
}

}  // namespace
}  // namespace inferometer::testing
