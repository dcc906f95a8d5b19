// The simulator, with either stepper, against an independent, plainly written one
// (tests/support/plain_scheduler.hpp): the same integers, request by request and step by step, over random
// scenarios.

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/random_scenario.hpp"

namespace inferometer::testing {
namespace {

constexpr std::uint64_t kScenarios = 200;

std::vector<FinishedRequest> by_number(std::vector<FinishedRequest> requests) {
  std::sort(requests.begin(), requests.end(),
            [](const FinishedRequest& a, const FinishedRequest& b) { return a.id < b.id; });
  return requests;
}

void require_equal(const FinishedRequest& got, const FinishedRequest& plain) {
  CAPTURE(plain.id, got.first_token.since_start().count(), plain.first_token.since_start().count());
  REQUIRE(got.id == plain.id);
  REQUIRE((got.arrival == plain.arrival));
  REQUIRE((got.admitted == plain.admitted));
  REQUIRE((got.first_token == plain.first_token));
  REQUIRE((got.finished == plain.finished));
  REQUIRE(got.prompt == plain.prompt);
  REQUIRE(got.output == plain.output);
  REQUIRE(got.preemptions == plain.preemptions);
}

struct Coverage {
  std::int64_t preemptions = 0;
  std::int64_t rejections = 0;
  std::int64_t steps = 0;
  std::int64_t swaps = 0;
  std::int64_t recomputations_beside_swaps = 0;
};

Coverage require_equal_runs(const RandomScenario& scenario, Stepper stepper) {
  const auto plain_workload = scenario.workload();
  const PlainOutcome plain = run_plainly(scenario.engine, *plain_workload);
  StepLog log;
  EngineSetup setup = scenario.engine.setup;
  setup.stepper = stepper;
  const auto simulation = make_simulation(setup, scenario.workload(), log, &log);
  simulation->run();
  const KvSwapCounts& swaps = simulation->lanes().front().swap_counts();
  REQUIRE(swaps.swapped_out == plain.swapped_out);
  REQUIRE(swaps.swapped_in == plain.swapped_out);
  REQUIRE(swaps.in_blocks == swaps.out_blocks);

  Coverage coverage;
  for (std::size_t i = 0; i < std::min(plain.steps.size(), log.steps().size()); ++i) {
    const bool same = plain.steps[i] == log.steps()[i];
    CAPTURE(i, log.lines()[i], plain.steps[i].end.since_start().count(), plain.steps[i].held_blocks);
    REQUIRE(same);
  }
  REQUIRE(log.steps().size() == plain.steps.size());
  const std::vector<FinishedRequest> finished = by_number(log.finished());
  REQUIRE(finished.size() == plain.finished.size());
  for (std::size_t i = 0; i < finished.size(); ++i) {
    require_equal(finished[i], plain.finished[i]);
    coverage.preemptions += finished[i].preemptions;
  }
  REQUIRE(log.rejected().size() == plain.rejected.size());
  for (const RejectedRequest& rejected : log.rejected()) {
    REQUIRE(plain.rejected.count(rejected.id) == 1);
    REQUIRE((plain.rejected.at(rejected.id) == rejected.rejected));
  }
  REQUIRE(finished.size() + log.rejected().size() == scenario.requests.size());
  coverage.rejections = static_cast<std::int64_t>(log.rejected().size());
  coverage.steps = static_cast<std::int64_t>(log.steps().size());
  coverage.swaps = swaps.swapped_out;
  coverage.recomputations_beside_swaps = swaps.recomputed;
  return coverage;
}

/// Returns what the scenarios exercised, so that each test can insist on it.
Coverage compare(const std::string& policy) {
  Coverage sum;
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario scenario = random_scenario(policy, seed);
    CAPTURE(seed);
    INFO(scenario.describe());
    require_equal_runs(scenario, Stepper::fast);
    const Coverage coverage = require_equal_runs(scenario, Stepper::reference);
    sum.preemptions += coverage.preemptions;
    sum.rejections += coverage.rejections;
    sum.steps += coverage.steps;
    sum.swaps += coverage.swaps;
    sum.recomputations_beside_swaps += coverage.recomputations_beside_swaps;
  }
  return sum;
}

TEST_CASE("chunked_prefill equals the plain vLLM V1 loop") {
  const Coverage coverage = compare("chunked_prefill");
  CHECK(coverage.preemptions > 100);
  CHECK(coverage.rejections > 100);
}

TEST_CASE("continuous equals the plain vLLM V0 loop") {
  const Coverage coverage = compare("continuous");
  CHECK(coverage.preemptions > 100);
  CHECK(coverage.swaps > 100);
  CHECK(coverage.recomputations_beside_swaps > 20);
  CHECK(coverage.rejections > 100);
}

TEST_CASE("sarathi equals the plain Sarathi-Serve loop") {
  const Coverage coverage = compare("sarathi");
  CHECK(coverage.preemptions > 100);
  CHECK(coverage.rejections > 100);
}

TEST_CASE("sglang equals the plain SGLang loop") {
  const Coverage coverage = compare("sglang");
  CHECK(coverage.preemptions > 20);  // few: room is set aside for what running requests may still emit
  CHECK(coverage.rejections > 100);
}

TEST_CASE("orca equals the plain Orca loop") {
  const Coverage coverage = compare("orca");
  CHECK(coverage.preemptions == 0);
  CHECK(coverage.steps > 1000);
}

TEST_CASE("static equals the plain request-level loop") {
  const Coverage coverage = compare("static");
  CHECK(coverage.preemptions == 0);
  CHECK(coverage.steps > 1000);
}

}  // namespace
}  // namespace inferometer::testing
