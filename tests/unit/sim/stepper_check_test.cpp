#include "sim/engine/stepper_check.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/random_scenario.hpp"

namespace inferometer::testing {
namespace {

/// A policy that promises what it does not keep.
class Boaster : public BatchPolicy {
 public:
  explicit Boaster(std::unique_ptr<BatchPolicy> policy) : policy_(std::move(policy)) {}
  void plan(const ReplicaView& view, StepPlan& plan) override { policy_->plan(view, plan); }
  [[nodiscard]] Stability stability(const ReplicaView&, const StepPlan&) const override {
    return Stability::until_change(false);
  }

 private:
  std::unique_ptr<BatchPolicy> policy_;
};

Simulation simulation_of(const EngineSetup& setup, Stepper stepper, std::unique_ptr<BatchPolicy> policy,
                         std::unique_ptr<Workload> workload, SimulationObserver& observer) {
  ReplicaConfig config = replica_config(setup);
  config.stepper = stepper;
  std::vector<Replica> replicas;
  replicas.emplace_back(config, std::move(policy), make_test_pricer(setup.costs), observer);
  return {std::move(workload), std::move(replicas), observer};
}

/// What a checked run says: nothing, or where the steppers differ.
std::string checked_run(const EngineSetup& setup, std::unique_ptr<BatchPolicy> policy,
                        const std::function<std::unique_ptr<Workload>()>& workload) {
  StepLog log;
  StepperCheck check(log);
  Simulation simulation = simulation_of(setup, Stepper::fast, std::move(policy), workload(), check);
  check.compare(simulation,
                std::unique_ptr<Simulation>(new Simulation(simulation_of(
                    setup, Stepper::reference, make_policy(setup), workload(), check.reference_side()))));
  try {
    simulation.run();
    check.finish();
  } catch (const StepperMismatch& mismatch) {
    return mismatch.what();
  }
  return "";
}

TEST_CASE("a checked run of a policy that keeps its promises finds nothing") {
  for (const char* policy : {"static", "orca", "continuous", "chunked_prefill", "sarathi"}) {
    for (std::uint64_t seed = 3000; seed < 3020; ++seed) {
      const RandomScenario scenario = random_scenario(policy, seed);
      CAPTURE(seed);
      INFO(scenario.describe());
      CHECK(checked_run(scenario.engine.setup, make_policy(scenario.engine.setup),
                        [&] { return scenario.workload(); }) == "");
    }
  }
}

TEST_CASE("a promise that is not kept is found at its first step, with both states") {
  // Request 0 runs from 0 on: 4 tokens in 14 us, then 11 us a decode. Request 1 comes at 20 us, during the
  // first decode: step by step it joins at 25 us, but this policy said that an arrival would change nothing.
  EngineSetup setup;
  setup.policy = "orca";
  const std::string found = checked_run(setup, std::make_unique<Boaster>(make_policy(setup)), [] {
    return make_list_workload({request_at(0, 4, 10), request_at(20, 4, 2)});
  });
  // The fast stepper has run to the end: 13 tokens cached, 10 emitted, of 14 reserved in 4 blocks.
  check_says(found, {"the steppers differ in step 2 of replica 0",
                     "prefilled tokens                             0                       4  <--",
                     "end, ps                               36000000                40000000  <--",
                     "fast:\n  at ", "request 0: 13 tokens in its cache, 10 emitted, 4 blocks",
                     "reference:\n  at 40000000 ps\n  replica 0: 2 running",
                     "request 0: 6 tokens in its cache, 3 emitted, 4 blocks"});
}

TEST_CASE("a run that ends too early is found") {
  EngineSetup setup;
  setup.policy = "orca";
  StepLog log;
  StepperCheck check(log);
  Simulation simulation = simulation_of(setup, Stepper::fast, make_policy(setup),
                                        make_list_workload({request_at(0, 4, 3)}), check);
  check.compare(simulation, std::unique_ptr<Simulation>(new Simulation(simulation_of(
                                setup, Stepper::reference, make_policy(setup),
                                make_list_workload({request_at(0, 4, 3), request_at(1'000, 4, 1)}),
                                check.reference_side()))));
  simulation.run();
  try {
    check.finish();
    FAIL("the second request was not missed");
  } catch (const StepperMismatch& mismatch) {
    check_says(mismatch.what(), {"the reference stepper goes on with step 3 of replica 0"});
  }
}

/// Stands before a check and changes what a simulation tells it.
class Changed final : public SimulationObserver {
 public:
  explicit Changed(SimulationObserver& told) : told_(told) {}

  std::function<void(FinishedRequest&)> change_request = [](FinishedRequest&) {};
  std::function<std::int32_t(const StepRecord&)> lane = [](const StepRecord&) { return 0; };

  void on_arrival(const Request& request, std::int64_t waiting) override {
    told_.on_arrival(request, waiting);
  }
  void on_steps(const StepRecord& steps) override {
    StepRecord changed = steps;
    changed.lane = lane(steps);
    told_.on_steps(changed);
  }
  void on_finished(const FinishedRequest& request) override {
    FinishedRequest changed = request;
    change_request(changed);
    told_.on_finished(changed);
  }

 private:
  SimulationObserver& told_;
};

/// What a check says of three requests, when the sides tell of them what `fast` and `reference` make of it.
std::string check_changed(const std::function<void(Changed&)>& change_fast,
                          const std::function<void(Changed&)>& change_reference) {
  EngineSetup setup;
  setup.policy = "orca";
  const auto workload = [] {
    return make_list_workload({request_at(0, 4, 3), request_at(20, 4, 9), request_at(30, 4, 2)});
  };
  StepLog log;
  StepperCheck check(log);
  Changed fast(check);
  Changed reference(check.reference_side());
  change_fast(fast);
  change_reference(reference);
  Simulation simulation = simulation_of(setup, Stepper::fast, make_policy(setup), workload(), fast);
  check.compare(simulation, std::unique_ptr<Simulation>(new Simulation(simulation_of(
                                setup, Stepper::reference, make_policy(setup), workload(), reference))));
  try {
    simulation.run();
    check.finish();
  } catch (const StepperMismatch& mismatch) {
    return mismatch.what();
  }
  return "";
}

TEST_CASE("where a request ran is compared") {
  const auto as_it_is = [](Changed&) {};
  CHECK(check_changed(as_it_is, as_it_is).empty());
  const auto changed = [&](const std::function<void(FinishedRequest&)>& change) {
    return check_changed([&](Changed& side) { side.change_request = change; }, as_it_is);
  };
  check_says(changed([](FinishedRequest& request) { request.replica = 3; }),
             {"the steppers differ in finished request 0",
              "replica                                      3                       0  <--"});
  check_says(changed([](FinishedRequest& request) { request.prefill_replica = 3; }),
             {"prefill replica                              3                      -1  <--"});
  check_says(changed([](FinishedRequest& request) { request.retries = 3; }),
             {"retries                                      3                       0  <--"});
  check_says(changed([](FinishedRequest& request) { request.handover = Duration(3); }),
             {"handover, ps                                 3                       0  <--"});
}

TEST_CASE("steps of a pipeline are compared by micro-batch") {
  // Whoever decodes does so in another micro-batch than whoever prefills.
  const auto by_kind = [](const StepRecord& steps) { return steps.prefill_tokens > 0 ? 0 : 1; };
  const auto in_lanes = [&](Changed& side) { side.lane = by_kind; };
  CHECK(check_changed(in_lanes, in_lanes).empty());
  const std::string found = check_changed(in_lanes, [](Changed&) {});
  check_says(found, {"the steppers differ in step 0 of replica 0, micro-batch 1",
                     "the reference stepper is done without it"});
}

/// Keeps steps beyond the call that tells of them.
class KeptSteps final : public SimulationObserver {
 public:
  void on_steps(const StepRecord& step) override {
    kept_.push_back({step.stretch,
                     step.shape,
                     {step.shape.chunks.begin(), step.shape.chunks.end()},
                     {step.gaps.begin(), step.gaps.end()},
                     step});
  }
  /// Tells of all that decode, or of all that do not, in order.
  void tell(bool that_decode, SimulationObserver& observer) {
    for (Kept& kept : kept_) {
      if ((kept.shape.decodes > 0) == that_decode) {
        kept.shape.chunks = kept.chunks;
        StepRecord step{kept.values.replica, kept.values.lane, kept.stretch, kept.shape};
        step.decodes = kept.values.decodes;
        step.prefill_tokens = kept.values.prefill_tokens;
        step.emitted = kept.values.emitted;
        step.running = kept.values.running;
        step.held_blocks = kept.values.held_blocks;
        step.gaps = kept.gaps;
        observer.on_steps(step);
      }
    }
  }

 private:
  struct Kept {
    Stretch stretch;
    StepShape shape;
    std::vector<ChunkShape> chunks;
    std::vector<TokenGap> gaps;
    StepRecord values;  // its references are not to be used
  };
  std::vector<Kept> kept_;
};

TEST_CASE("each micro-batch has an order of its own") {
  EngineSetup setup;
  setup.policy = "orca";
  const auto by_kind = [](const StepRecord& steps) { return steps.shape.decodes > 0 ? 1 : 0; };
  const auto reference_of = [&](SimulationObserver& observer) {
    return simulation_of(setup, Stepper::reference, make_policy(setup),
                         make_list_workload({request_at(0, 4, 3), request_at(1'000, 4, 3)}), observer);
  };
  KeptSteps kept;
  Changed in_lanes(kept);
  in_lanes.lane = by_kind;
  Simulation whole = reference_of(in_lanes);
  whole.run();

  StepLog log;
  StepperCheck check(log);
  Changed reference(check.reference_side());
  reference.lane = by_kind;
  check.compare(whole, std::unique_ptr<Simulation>(new Simulation(reference_of(reference))));
  kept.tell(true, check);  // before the prefills, the first of which came first
  kept.tell(false, check);
  CHECK(log.steps().size() == 6);
}

}  // namespace
}  // namespace inferometer::testing
