// Host memory and disk over random engines: both steppers give the same, every request gets its tokens once,
// and blocks are all free in the end.

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/random_techniques.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

struct RandomEngine {
  EngineSetup setup;
  std::vector<TestRequest> requests;
  std::string text;
};

RandomEngine random_engine(std::uint64_t seed) {
  Dice dice(seed, "tests/offload");
  RandomEngine engine;
  EngineSetup& setup = engine.setup;
  setup.policy = "chunked_prefill";
  setup.block_size = dice.one_of({1, 4, 16});
  setup.max_num_seqs = dice.one_of({1, 3, 8});
  setup.blocks = dice.between(4, 60);
  setup.max_model_len = setup.blocks * setup.block_size - dice.between(0, setup.block_size);
  setup.costs = {.fixed = dice.one_of({1, 10, 500}),
                 .per_token = dice.between(0, 3),
                 .per_context = dice.between(0, 1),
                 .per_past = 0,
                 .per_row = dice.between(0, 1)};
  setup.keys =
      "max_num_batched_tokens: " + std::to_string(setup.max_num_seqs + dice.one_of({0, 5, 30, 300})) +
      ", watermark: " + dice.name_of({"0", "0.1"});
  setup.offload = random_offload(dice);
  std::int64_t arrival = 0;
  const std::int64_t gap = dice.one_of({0, 50, 3000});
  for (std::int64_t i = dice.between(1, 40); i > 0; --i) {
    const std::int64_t prompt = dice.between(1, std::max<std::int64_t>(1, setup.max_model_len * 2 / 3));
    const std::int64_t room = setup.max_model_len - prompt;
    engine.requests.push_back(request_at(
        arrival, prompt, dice.between(1, std::max<std::int64_t>(1, dice.chance(60) ? room / 4 : room))));
    arrival += dice.chance(40) ? 0 : dice.between(0, gap);
  }
  draw_contents(dice, engine.requests);
  engine.text = std::to_string(setup.blocks) + " blocks of " + std::to_string(setup.block_size) + " {" +
                setup.keys + "}" + to_text(*setup.offload);
  return engine;
}

struct Outcome {
  StepLog log;
  KvOffloadCounts counts;
  StepCounts steps;
  PrefixSources found;
  std::int64_t preemptions = 0;
};

Outcome run(const RandomEngine& engine, Stepper stepper) {
  EngineSetup setup = engine.setup;
  setup.stepper = stepper;
  Outcome outcome;
  const auto simulation = make_simulation(setup, make_list_workload(engine.requests), outcome.log);
  simulation->run();
  const Replica& replica = simulation->lanes().front();
  outcome.counts = replica.offload()->counts();
  outcome.steps = replica.step_counts();
  REQUIRE(replica.state().blocks().held() == BlockCount(0));
  REQUIRE(replica.state().store().prefill_left == 0);
  REQUIRE(replica.state().store().tokens == 0);
  REQUIRE(simulation->census().completed + simulation->census().rejected ==
          static_cast<std::int64_t>(engine.requests.size()));
  for (const FinishedRequest& request : outcome.log.finished()) {
    REQUIRE(request.cached.total() < request.prompt);
    outcome.found = outcome.found + request.cached + request.recached;
    outcome.preemptions += request.preemptions;
  }
  return outcome;
}

TEST_CASE("with host memory and disk both steppers give the same integers: 400 engines") {
  KvOffloadCounts all;
  StepCounts steps;
  std::int64_t preemptions = 0, dropped = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const RandomEngine engine = random_engine(seed);
    CAPTURE(seed);
    INFO(engine.text);
    const Outcome reference = run(engine, Stepper::reference);
    const Outcome fast = run(engine, Stepper::fast);
    REQUIRE((fast.counts == reference.counts));
    REQUIRE((fast.log.steps() == reference.log.steps()));
    REQUIRE(fast.log.lines() == reference.log.lines());
    REQUIRE((fast.found == reference.found));
    REQUIRE(fast.log.finished().size() == reference.log.finished().size());
    // What is brought for a request that gives it up again before it runs is not found by it.
    const std::int64_t loaded = fast.counts.host.loaded_blocks * engine.setup.block_size;
    const std::int64_t from_disk = fast.counts.disk.loaded_blocks * engine.setup.block_size;
    REQUIRE(fast.found.below_gpu() <= loaded);
    REQUIRE(fast.found.disk <= from_disk);
    REQUIRE(from_disk <= loaded);
    dropped += fast.found.below_gpu() < loaded ? 1 : 0;
    all = all + fast.counts;
    steps = steps + fast.steps;
    preemptions += fast.preemptions;
  }
  CHECK(all.host.loads > 500);
  CHECK(all.host.load_waiting > Duration(0));
  CHECK(all.host.stored_blocks > all.host.loaded_blocks);
  CHECK(all.disk.loads > 200);
  CHECK(all.disk.load_waiting > Duration(0));
  CHECK(all.disk.lost_blocks > 100);
  CHECK(steps.in_stretches > steps.single());
  CHECK(preemptions > 100);
  CHECK(dropped > 0);
}

}  // namespace
}  // namespace inferometer::testing
