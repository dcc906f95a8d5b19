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

}  // namespace
}  // namespace inferometer::testing
