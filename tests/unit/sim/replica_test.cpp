// Stretches of one replica, and how an arrival ends them, by hand: blocks of 4 tokens, steps of 10 us and
// 1 us for each token of decode context.

#include "sim/replica/replica.hpp"

#include <vector>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

TimePoint at_us(std::int64_t us) {
  return TimePoint(microseconds(us));
}

Request request_of(std::int64_t id, std::int64_t prompt, std::int64_t output) {
  Request request;
  request.id = id;
  request.prompt = TokenCount(prompt);
  request.output = request.max_new = TokenCount(output);
  return request;
}

EngineSetup setup_of(std::int64_t blocks, std::int64_t max_num_seqs) {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.blocks = blocks;
  setup.max_num_seqs = max_num_seqs;
  setup.max_model_len = 40;
  setup.costs = {.fixed = 10, .per_token = 0, .per_context = 1};
  return setup;
}

class Engine : public SimulationObserver {
 public:
  explicit Engine(const EngineSetup& setup)
      : replica(config_of(setup), make_policy(setup), make_test_pricer(setup.costs), *this) {}

  void on_steps(const StepRecord& record) override { steps = record.stretch.steps(); }
  void on_finished(const FinishedRequest& request) override { finished = request.finished; }

  Replica replica;
  std::int64_t steps = 0;
  TimePoint finished;

 private:
  static ReplicaConfig config_of(const EngineSetup& setup) {
    ReplicaConfig config;
    config.block_size = setup.block_size;
    config.blocks = BlockCount(setup.blocks);
    config.max_model_len = setup.max_model_len;
    config.stepper = Stepper::fast;
    return config;
  }
};

/// A prompt of 4 tokens that emits 6: prefill from 0 to 10 us, then five decode steps with 5, 6, 7, 8, 9
/// tokens of context that end at 25, 41, 58, 76, 95 us.
void start_decoding(Engine& engine) {
  REQUIRE(engine.replica.enqueue(request_of(0, 4, 6)));
  REQUIRE((engine.replica.start_steps(at_us(0)).end == at_us(10)));
  engine.replica.end_steps();
  REQUIRE(engine.steps == 1);
  REQUIRE((engine.replica.start_steps(at_us(10)).end == at_us(95)));
  REQUIRE((engine.replica.running_until() == at_us(95)));
}

TEST_CASE("a stretch runs to the last token") {
  Engine engine(setup_of(100, 8));
  start_decoding(engine);
  engine.replica.end_steps();
  CHECK(engine.steps == 5);
  CHECK((engine.finished == at_us(95)));
  CHECK(engine.replica.step_counts().stretches == 1);
  CHECK(engine.replica.step_counts().in_stretches == 5);
  CHECK(engine.replica.step_counts().changing_batch == 1);
  CHECK(engine.replica.step_counts().single() == 1);
}

TEST_CASE("an arrival ends a stretch with the step under way") {
  struct Case {
    TimePoint arrival;
    TimePoint end;
    std::int64_t steps;
  };
  const Duration ps(1);
  const std::vector<Case> cases = {
      {at_us(10) + ps, at_us(25), 1}, {at_us(25) - ps, at_us(25), 1}, {at_us(25), at_us(25), 1},
      {at_us(25) + ps, at_us(41), 2}, {at_us(58) - ps, at_us(58), 3}, {at_us(58), at_us(58), 3},
      {at_us(58) + ps, at_us(76), 4}, {at_us(76), at_us(76), 4},
  };
  for (const Case& one : cases) {
    CAPTURE(one.arrival.since_start().count());
    Engine engine(setup_of(100, 8));
    start_decoding(engine);
    CHECK((engine.replica.interrupt(one.arrival) == one.end));
    CHECK((engine.replica.running_until() == one.end));
    CHECK_FALSE(engine.replica.interrupt(one.arrival).has_value());  // once is enough
    engine.replica.end_steps();
    CHECK(engine.steps == one.steps);
    CHECK(engine.replica.state().emitted(engine.replica.state().head()) == 1 + one.steps);
  }
}

TEST_CASE("an arrival in the last step changes nothing") {
  for (const TimePoint arrival : {at_us(76) + Duration(1), at_us(95) - Duration(1), at_us(95)}) {
    Engine engine(setup_of(100, 8));
    start_decoding(engine);
    CHECK_FALSE(engine.replica.interrupt(arrival).has_value());
    CHECK((engine.replica.running_until() == at_us(95)));
  }
}

TEST_CASE("an arrival that cannot be admitted anyway does not end a stretch") {
  Engine engine(setup_of(100, 1));  // one sequence at a time
  start_decoding(engine);
  CHECK_FALSE(engine.replica.interrupt(at_us(30)).has_value());
  CHECK((engine.replica.running_until() == at_us(95)));
}

// A prompt of 60 in chunks of 8, the whole budget: one step admits it, six more leave 4 tokens for a last
// one.
TEST_CASE("an arrival that finds the budget used up does not end a stretch of chunks") {
  EngineSetup setup = setup_of(100, 8);
  setup.keys = "max_num_batched_tokens: 8";
  setup.max_model_len = 100;
  Engine engine(setup);
  REQUIRE(engine.replica.enqueue(request_of(0, 60, 2)));
  REQUIRE((engine.replica.start_steps(at_us(0)).end == at_us(10)));
  engine.replica.end_steps();
  REQUIRE((engine.replica.start_steps(at_us(10)).end == at_us(70)));
  CHECK_FALSE(engine.replica.interrupt(at_us(15)).has_value());
  CHECK((engine.replica.running_until() == at_us(70)));
  engine.replica.end_steps();
  CHECK(engine.steps == 6);
  CHECK(engine.replica.state().computed(engine.replica.state().head()) == 56);
}

// Blocks of 4 for two prompts of 4 and 16 tokens, which fill one and four. Both prompts are whole blocks, so
// that each takes a new one in its first decode step (7 held), in its fifth (9 held) and would in its ninth.
TEST_CASE("a stretch ends before the step that the blocks do not suffice for") {
  struct Case {
    std::int64_t blocks, steps, held;
  };
  for (const Case& one : {Case{8, 4, 7}, Case{9, 8, 9}, Case{10, 8, 9}, Case{11, 12, 11}}) {
    CAPTURE(one.blocks);
    EngineSetup setup = setup_of(one.blocks, 8);
    setup.max_model_len = 32;
    Engine engine(setup);
    REQUIRE(engine.replica.enqueue(request_of(0, 4, 20)));
    REQUIRE(engine.replica.enqueue(request_of(1, 16, 16)));
    REQUIRE((engine.replica.start_steps(at_us(0)).end == at_us(10)));
    engine.replica.end_steps();
    CHECK(engine.replica.state().blocks().held().count() == 5);
    REQUIRE(engine.replica.start_steps(at_us(10)).end.has_value());
    CHECK(engine.replica.state().blocks().held().count() == 7);
    engine.replica.end_steps();
    CHECK(engine.steps == one.steps);
    CHECK(engine.replica.state().blocks().held().count() == one.held);
  }
}

// Steps of 10^18 picoseconds and a little: nine end within 9.2 * 10^18, the end of simulated time.
TEST_CASE("both steppers stop at the end of simulated time, behind the same step") {
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    EngineSetup setup = setup_of(100, 8);
    setup.stepper = stepper;
    setup.costs.fixed = 1'000'000'000'000;
    StepLog log;
    const auto simulation = make_simulation(setup, make_list_workload({request_at(0, 4, 30)}), log, &log);
    CHECK_THROWS_AS(simulation->run(), ConfigError);
    CHECK(log.steps().size() == 9);
  }
}

}  // namespace
}  // namespace inferometer::testing
