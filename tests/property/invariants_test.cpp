// What must stay true in every simulation, checked at every event of random scenarios: conservation,
// causality, blocks, tokens, work conservation, determinism. 120 scenarios a policy.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "tests/support/catch.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/random_scenario.hpp"

namespace inferometer::testing {
namespace {

constexpr std::uint64_t kScenarios = 120;

const std::vector<std::string> kPolicies{"static", "orca",   "continuous", "chunked_prefill",   "sarathi",
                                         "sglang", "trtllm", "priority",   "shortest_job_first"};

/// Watches a simulation of one replica from inside, step by step, walking everything that runs.
class Watcher : public SimulationObserver {
 public:
  explicit Watcher(const RandomScenario& scenario) : scenario_(scenario) {}

  const Simulation* simulation = nullptr;

  void on_arrival(const Request& request, std::int64_t waiting) override {
    const SequenceStore& store = state().store();
    REQUIRE(waiting ==
            static_cast<std::int64_t>(store.waiting.size() + store.joining.size() + store.swapped.size()));
    REQUIRE((request.arrival >= last_time_));
    last_time_ = request.arrival;
    const std::int64_t room = scenario_.engine.setup.max_model_len - request.prompt.count();
    max_new_[request.id] = std::min(request.max_new.count(), room);
    outputs_[request.id] = std::min(request.output.count(), room);
  }

  void on_rejected(const RejectedRequest& request) override {
    REQUIRE((request.rejected >= request.arrival));
    REQUIRE(emitted_[request.id] == 0);
    REQUIRE(!request.reason.empty());
  }

  void on_steps(const StepRecord& step) override {
    const TimePoint end = step.stretch.end();
    REQUIRE(step.stretch.steps() == 1);
    REQUIRE((step.stretch.start() >= last_end_));  // one step at a time
    REQUIRE((end > step.stretch.start()));
    REQUIRE((end >= last_time_));
    last_end_ = last_time_ = end;
    check_tokens(step);
    free_before_finish_ = state().blocks().free().count();
    emitted_sum_ += step.emitted;
    std::int64_t gaps = 0;
    for (const TokenGap& gap : step.gaps) {
      REQUIRE(gap.gap.count() > 0);
      gaps += gap.count;
    }
    first_tokens_ += step.emitted - gaps;
  }

  void on_finished(const FinishedRequest& request) override {
    REQUIRE((request.arrival <= request.admitted));
    REQUIRE((request.admitted < request.first_token));
    REQUIRE((request.first_token <= request.finished));
    REQUIRE((request.first_token == request.finished) == (request.output == 1));
    REQUIRE((request.finished == last_end_));
    // Those that end together are told in order of arrival.
    REQUIRE((request.finished != last_finish_ || request.id > last_finished_id_));
    last_finish_ = request.finished;
    last_finished_id_ = request.id;
    REQUIRE(request.output == outputs_.at(request.id));
    REQUIRE(emitted_.at(request.id) == request.output);
    REQUIRE((request.first_token == first_token_.at(request.id)));
    output_sum_ += request.output;
    ++finished_;
    const std::int64_t free = state().blocks().free().count();
    if (state().blocks().prefixes() == nullptr) {
      REQUIRE(free - free_before_finish_ == blocks_at_end(request));
    } else {  // what others hold too stays
      REQUIRE(free - free_before_finish_ <= blocks_at_end(request));
    }
    free_before_finish_ = free;
  }

  void check_end() const {
    REQUIRE(emitted_sum_ == output_sum_);
    REQUIRE(first_tokens_ == finished_);
  }

 private:
  [[nodiscard]] const BatchState& state() const { return simulation->lanes().front().state(); }

  [[nodiscard]] std::int64_t blocks_at_end(const FinishedRequest& request) const {
    const EngineSetup& setup = scenario_.engine.setup;
    std::int64_t tokens = request.prompt + request.output - 1;
    if (scenario_.engine.reserve_max_new) {
      tokens =
          scenario_.engine.reserve_model_len ? setup.max_model_len : request.prompt + max_new_.at(request.id);
    }
    return ceil_div(tokens, setup.block_size);
  }

  // The state has advanced, those that are done have not left yet.
  void check_tokens(const StepRecord& step) {
    std::int64_t emitted = 0;
    std::int64_t previous = -1;
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      const Sequence& sequence = state().sequence(id);
      const std::int64_t now = state().emitted(id);
      std::int64_t& before = emitted_[sequence.request_id];
      REQUIRE((now == before || now == before + 1));
      const std::int64_t computed = state().computed(id);
      if (now > before) {
        // Whoever emits has all tokens but the new one in its cache.
        REQUIRE(computed == sequence.prompt + now - 1);
        if (before == 0) {
          first_token_[sequence.request_id] = step.stretch.end();
        }
      }
      REQUIRE(computed <= sequence.prompt + now - (now > 0 ? 1 : 0));
      emitted += now - before;
      before = now;
      const std::string& policy = scenario_.engine.setup.policy;
      if (policy == "continuous" || policy == "sarathi" || policy == "trtllm") {
        REQUIRE(sequence.request_id > previous);  // running in order of arrival
        previous = sequence.request_id;
      }
    }
    REQUIRE(emitted == step.emitted);
  }

  const RandomScenario& scenario_;
  TimePoint last_time_, last_end_, last_finish_;
  std::int64_t last_finished_id_ = -1;
  std::map<std::int64_t, std::int64_t> max_new_, outputs_, emitted_;
  std::map<std::int64_t, TimePoint> first_token_;
  std::int64_t free_before_finish_ = 0;
  std::int64_t emitted_sum_ = 0;
  std::int64_t output_sum_ = 0;
  std::int64_t first_tokens_ = 0;
  std::int64_t finished_ = 0;
};

void require_conservation(const Simulation& simulation) {
  const Census census = simulation.census();
  REQUIRE(census.injected == census.completed + census.running + census.waiting + census.rejected);
}

/// Between steps, what all sequences hold adds up to what the pool gave away.
void require_blocks_add_up(const Replica& replica) {
  const BatchState& state = replica.state();
  std::int64_t held = 0;
  std::int64_t running = 0;
  for (SequenceId id = state.head(); id != kNoSequence; id = state.sequence(id).next) {
    held += testing::own_blocks(state.store(), id, state.held_blocks(id));
    ++running;
  }
  held = testing::held_with_cached(state.store(), held);
  REQUIRE(running == state.running_count());
  REQUIRE(state.blocks().free().count() + held == state.blocks().total().count());
  for (const SequenceId id : state.waiting()) {
    REQUIRE(state.held_blocks(id) == 0);
  }
  std::int64_t swapped = 0;
  for (const SequenceId id : state.store().swapped) {
    REQUIRE(state.held_blocks(id) == 0);
    swapped += state.blocks().blocks_for(state.computed(id));
  }
  REQUIRE(swapped == state.store().swap_blocks_taken);
  REQUIRE(swapped <= state.store().swap_blocks);
}

/// Until when a replica that runs no step may leave things as they are: forever without work, and as long as
/// the wait window of an incomplete static batch is open. Otherwise not at all.
std::optional<TimePoint> may_idle_until(const RandomScenario& scenario, const Simulation& simulation) {
  const BatchState& state = simulation.lanes().front().state();
  if (state.running_count() == 0 && state.waiting().empty() && state.store().swapped.empty()) {
    return std::nullopt;
  }
  if (scenario.engine.setup.policy == "static" && state.running_count() == 0) {
    const TimePoint arrival = state.sequence(state.waiting().front()).arrival;
    return std::max(simulation.now(), arrival + scenario.engine.wait_window);
  }
  return simulation.now();
}

void watch(const RandomScenario& scenario) {
  Watcher watcher(scenario);
  const auto simulation = make_simulation(scenario.engine.setup, scenario.workload(), watcher);
  watcher.simulation = simulation.get();
  const Replica& replica = simulation->lanes().front();
  for (bool more = true; more;) {
    const TimePoint last = simulation->now();
    const bool was_free = !replica.is_running();
    const std::optional<TimePoint> idle_until = may_idle_until(scenario, *simulation);
    more = simulation->run(1);
    REQUIRE((simulation->now() >= last));
    REQUIRE((!was_free || !idle_until || simulation->now() <= *idle_until));
    require_conservation(*simulation);
    if (!replica.is_running()) {
      require_blocks_add_up(replica);
    }
  }
  REQUIRE(replica.state().running_count() == 0);
  REQUIRE(replica.state().waiting().empty());
  REQUIRE(replica.state().store().swapped.empty());
  REQUIRE((replica.state().blocks().free() == replica.state().blocks().total()));
  REQUIRE(simulation->census().injected == static_cast<std::int64_t>(scenario.requests.size()));
  watcher.check_end();
}

void watch_all(const std::string& policy) {
  for (std::uint64_t seed = 1000; seed < 1000 + kScenarios; ++seed) {
    const RandomScenario scenario = random_scenario(policy, seed);
    CAPTURE(seed);
    INFO(scenario.describe());
    watch(scenario);
  }
}

TEST_CASE("invariants hold at every event: static") {
  watch_all("static");
}
TEST_CASE("invariants hold at every event: orca") {
  watch_all("orca");
}
TEST_CASE("invariants hold at every event: continuous") {
  watch_all("continuous");
}
TEST_CASE("invariants hold at every event: chunked_prefill") {
  watch_all("chunked_prefill");
}
TEST_CASE("invariants hold at every event: sarathi") {
  watch_all("sarathi");
}
TEST_CASE("invariants hold at every event: sglang") {
  watch_all("sglang");
}
TEST_CASE("invariants hold at every event: trtllm") {
  watch_all("trtllm");
}
TEST_CASE("invariants hold at every event: priority") {
  watch_all("priority");
}
TEST_CASE("invariants hold at every event: shortest_job_first") {
  watch_all("shortest_job_first");
}

std::vector<std::string> run_in_pieces(const RandomScenario& scenario, std::int64_t piece) {
  StepLog log;
  const auto simulation = make_simulation(scenario.engine.setup, scenario.workload(), log, &log);
  while (simulation->run(piece)) {
  }
  std::vector<std::string> lines = log.lines();
  for (const FinishedRequest& request : log.finished()) {
    lines.push_back(std::to_string(request.id) + " " + log.outcome(request.id));
  }
  return lines;
}

TEST_CASE("a scenario gives the same steps again, and in pieces") {
  constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kPiece = 7;
  for (const std::string& policy : kPolicies) {
    for (std::uint64_t seed = 2000; seed < 2030; ++seed) {
      const RandomScenario scenario = random_scenario(policy, seed);
      CAPTURE(seed);
      INFO(scenario.describe());
      const std::vector<std::string> whole = run_in_pieces(scenario, kWhole);
      REQUIRE_FALSE(whole.empty());
      REQUIRE(run_in_pieces(scenario, kWhole) == whole);
      REQUIRE(run_in_pieces(scenario, kPiece) == whole);
    }
  }
}

/// The steps of a fast run that is cut off after so many events are those of the reference run that have
/// ended by then, whatever was under way.
void require_prefix(const RandomScenario& scenario, const std::vector<StepLog::Step>& all,
                    std::int64_t events) {
  EngineSetup setup = scenario.engine.setup;
  setup.stepper = Stepper::fast;
  StepLog log;
  const auto simulation = make_simulation(setup, scenario.workload(), log, &log);
  simulation->run(events);
  simulation->cut_off();
  std::vector<StepLog::Step> ended;
  std::copy_if(all.begin(), all.end(), std::back_inserter(ended),
               [&](const StepLog::Step& step) { return step.end <= simulation->now(); });
  CAPTURE(events, simulation->now().since_start().count(), log.steps().size(), ended.size());
  const bool same = log.steps() == ended;
  REQUIRE(same);
  require_conservation(*simulation);
}

TEST_CASE("a run that is cut off has done the steps that had ended") {
  for (const std::string& policy : kPolicies) {
    for (std::uint64_t seed = 4000; seed < 4030; ++seed) {
      const RandomScenario scenario = random_scenario(policy, seed);
      CAPTURE(seed);
      INFO(scenario.describe());
      StepLog reference;
      make_simulation(scenario.engine.setup, scenario.workload(), reference, &reference)->run();
      for (const std::int64_t events : {1, 2, 3, 5, 8, 13, 21, 34, 55}) {
        require_prefix(scenario, reference.steps(), events);
      }
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
