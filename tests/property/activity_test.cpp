// Activity of simulated GPUs over random deployments: the periods add up to what the run adds up to, no
// period is busier than it is long, and both steppers fill the same periods.

#include <array>

#include "sim/metrics/activity_recorder.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/replica/observer_group.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_deployment.hpp"

namespace inferometer::testing {
namespace {

struct ActivityRun {
  MetricsRecorder recorder;
  ActivityRecorder activity;
};

ActivityRun run(const RandomDeployment& deployment, Stepper stepper, Duration period) {
  ActivityRun result{MetricsRecorder(1, deployment.work), ActivityRecorder(1, *deployment.work, period)};
  ObserverGroup both({&result.recorder, &result.activity});
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(stepper), deployment.policy(), deployment.pricer, both);
  Simulation simulation(deployment.workload(), std::move(replicas), both);
  simulation.run();
  return result;
}

void check_sums(const ActivityRun& result, Duration period) {
  Duration busy;
  std::int64_t bytes = 0;
  bool is_within = true;
  for (const ActivityPeriod& one : result.activity.replicas().front()) {
    busy += one.busy;
    bytes += one.hbm_bytes.count();
    // Each of the two steps over a border may be rounded up by a picosecond.
    is_within = is_within && one.busy >= Duration() && one.busy <= period + picoseconds(2) &&
                one.hbm_bytes >= Bytes();
  }
  CHECK(is_within);
  const CostSum cost = result.recorder.totals().cost();
  CHECK(busy.count() == cost.total() - cost.host);
  std::int64_t all_bytes = 0;
  for (const PhaseTotals& phase : result.recorder.totals().pools.front().phases) {
    all_bytes += phase.work->hbm_bytes().count();
  }
  CHECK(bytes == all_bytes);
}

TEST_CASE("periods of activity add up to the run by either stepper: 150 deployments") {
  std::int64_t compared = 0, periods = 0, decode_steps = 0;
  for (std::uint64_t seed = 5000; seed < 5150; ++seed) {
    const RandomDeployment deployment = random_deployment(seed);
    if (!deployment.work) {
      continue;
    }
    CAPTURE(seed);
    INFO(deployment.describe());
    // Shorter than a step, some steps, and many.
    const Duration period = std::array{microseconds(700), milliseconds(31), seconds(2)}[seed % 3];
    const ActivityRun fast = run(deployment, Stepper::fast, period);
    const ActivityRun reference = run(deployment, Stepper::reference, period);
    REQUIRE(fast.activity.replicas() == reference.activity.replicas());
    check_sums(fast, period);
    ++compared;
    periods += static_cast<std::int64_t>(fast.activity.replicas().front().size());
    decode_steps += fast.recorder.totals().pools.front().phases[1].steps;
  }
  CHECK(compared >= 50);
  CHECK(periods >= 10'000);
  CHECK(decode_steps >= 10'000);
}

}  // namespace
}  // namespace inferometer::testing
