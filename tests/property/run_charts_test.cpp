// What is recorded for the charts of a run, over random deployments and clusters: bins and cells add up to
// what the recorder of metrics has, exactly, no bin holds more than it can, and both steppers fill the same.

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "sim/metrics/roofline_recorder.hpp"
#include "sim/metrics/timeline_recorder.hpp"
#include "sim/replica/observer_group.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_deployment.hpp"

namespace inferometer::testing {
namespace {

using Cells = std::vector<std::array<std::vector<RooflineCell>, kStepPhases>>;

/// All that watches a run, with its results.
struct Watch {
  Watch(const std::vector<RecordedPool>& pools, const TimelineOptions& options)
      : recorder(pools), timeline(pools, options), has_work(pools.front().work.has_value()) {
    for (const RecordedPool& pool : pools) {
      has_work = has_work && pool.work;
    }
    std::vector<SimulationObserver*> observers = {&recorder, &timeline};
    if (has_work) {
      roofline = std::make_unique<RooflineRecorder>(pools);
      observers.push_back(roofline.get());
    }
    all = std::make_unique<ObserverGroup>(observers);
  }

  [[nodiscard]] Cells cells() const {
    Cells cells(has_work ? roofline->pools() : 0);
    for (std::size_t pool = 0; pool < cells.size(); ++pool) {
      for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
        cells[pool][phase] = roofline->cells(pool, static_cast<StepPhase>(phase));
      }
    }
    return cells;
  }

  MetricsRecorder recorder;
  TimelineRecorder timeline;
  bool has_work;
  std::unique_ptr<RooflineRecorder> roofline;
  std::unique_ptr<ObserverGroup> all;
};

/// Few bins that widen early, bins shorter than a step, and as many as in a report.
TimelineOptions options_for(std::uint64_t seed) {
  return std::array<TimelineOptions, 3>{
      {{6, microseconds(10)}, {40, microseconds(700)}, {600, milliseconds(1)}}}[seed % 3];
}

void check_pool(const PoolTimeline& pool, const PoolTotals& totals, const Timeline& timeline) {
  PoolBin sum;
  bool is_within = true;
  for (std::size_t i = 0; i < pool.bins.size(); ++i) {
    const PoolBin& bin = pool.bins[i];
    sum.in_steps += bin.in_steps;
    sum.held_blocks += bin.held_blocks;
    sum.running += bin.running;
    sum.decoding += bin.decoding;
    sum.most_held = std::max(sum.most_held, bin.most_held);
    sum.most_running = std::max(sum.most_running, bin.most_running);
    sum.most_decoding = std::max(sum.most_decoding, bin.most_decoding);
    is_within =
        is_within && bin.in_steps <= Int128{timeline.length_of(i).count()} * pool.replicas * pool.lanes &&
        bin.held_blocks <= bin.in_steps * bin.most_held && bin.running <= bin.in_steps * bin.most_running &&
        bin.decoding <= bin.in_steps * bin.most_decoding;
  }
  CHECK(is_within);
  CHECK((sum.in_steps == totals.cost().total()));
  CHECK((sum.held_blocks == totals.held_blocks.integral));
  CHECK((sum.running == totals.running.integral));
  CHECK((sum.decoding == totals.decodes.integral));
  CHECK(sum.most_held == totals.held_blocks.peak);
  CHECK(sum.most_running == totals.running.peak);
  CHECK(sum.most_decoding == totals.decodes.peak);
}

void check_sums(const Watch& watch, const Timeline& timeline) {
  const RunTotals& totals = watch.recorder.totals();
  REQUIRE(timeline.pools.size() == totals.pools.size());
  for (std::size_t i = 0; i < timeline.pools.size(); ++i) {
    REQUIRE(timeline.pools[i].bins.size() == timeline.requests.size());
    check_pool(timeline.pools[i], totals.pools[i], timeline);
  }
  CHECK(timeline.end == totals.last_event);
  Int128 waiting = 0;
  bool is_positive = true;
  for (std::size_t bin = 0; bin < timeline.requests.size(); ++bin) {
    waiting += timeline.waiting(bin);
    is_positive = is_positive && timeline.waiting(bin) >= 0 && timeline.length_of(bin) > Duration();
  }
  CHECK(is_positive);
  CHECK((waiting == totals.waiting_integral()));
}

void check_cells(const Watch& watch, const Cells& cells) {
  for (std::size_t pool = 0; pool < cells.size(); ++pool) {
    for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
      const PhaseTotals& totals = watch.recorder.totals().pools[pool].phases[phase];
      RooflineCell sum;
      for (const RooflineCell& cell : cells[pool][phase]) {
        sum.steps += cell.steps;
        sum.time += cell.time;
        sum.flops += cell.flops;
        sum.hbm_bytes += cell.hbm_bytes;
      }
      CHECK(sum.steps == totals.steps);
      CHECK((sum.time == totals.cost.sum().total()));
      CHECK(static_cast<double>(sum.flops) == totals.work->flops().count());
      CHECK(static_cast<double>(sum.hbm_bytes) == totals.work->hbm_bytes_unbounded());
    }
  }
}

/// What the runs led into.
struct Coverage {
  std::int64_t runs = 0, widened = 0, cells = 0, steps = 0;

  void add(const Timeline& timeline, const Cells& filled, const TimelineOptions& options,
           const MetricsRecorder& recorder) {
    ++runs;
    widened += timeline.width > options.width ? 1 : 0;
    for (const auto& pool : filled) {
      for (const auto& phase : pool) {
        cells += static_cast<std::int64_t>(phase.size());
      }
    }
    for (const PoolTotals& pool : recorder.totals().pools) {
      for (const PhaseTotals& phase : pool.phases) {
        steps += phase.steps;
      }
    }
  }
};

void compare(const Watch& fast, const Watch& reference, const TimelineOptions& options, Coverage& coverage) {
  const Timeline timeline = fast.timeline.timeline();
  REQUIRE(timeline == reference.timeline.timeline());
  const Cells cells = fast.cells();
  REQUIRE(cells == reference.cells());
  REQUIRE(timeline.requests.size() <= options.most_bins);
  check_sums(fast, timeline);
  check_cells(fast, cells);
  coverage.add(timeline, cells, options, fast.recorder);
}

Watch run(const RandomDeployment& deployment, Stepper stepper, const TimelineOptions& options) {
  Watch watch({{.work = deployment.work}}, options);
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(stepper), deployment.policy(), deployment.pricer, *watch.all);
  Simulation simulation(deployment.workload(), std::move(replicas), *watch.all);
  simulation.run();
  return watch;
}

TEST_CASE("charts of a replica add up to its run by either stepper: 150 deployments") {
  Coverage coverage;
  for (std::uint64_t seed = 6000; seed < 6150; ++seed) {
    const RandomDeployment deployment = random_deployment(seed);
    CAPTURE(seed);
    INFO(deployment.describe());
    const TimelineOptions options = options_for(seed);
    compare(run(deployment, Stepper::fast, options), run(deployment, Stepper::reference, options), options,
            coverage);
  }
  CHECK(coverage.runs == 150);
  CHECK(coverage.widened >= 50);
  CHECK(coverage.cells >= 1'000);
  CHECK(coverage.steps >= 10'000);
}

TEST_CASE("charts of a run that was cut off add up to what was done: 60 deployments") {
  std::int64_t left = 0;
  for (std::uint64_t seed = 6200; seed < 6260; ++seed) {
    const RandomDeployment deployment = random_deployment(seed);
    CAPTURE(seed);
    INFO(deployment.describe());
    Watch watch({{.work = deployment.work}}, options_for(seed));
    std::vector<Replica> replicas;
    replicas.emplace_back(deployment.replica(Stepper::fast), deployment.policy(), deployment.pricer,
                          *watch.all);
    Simulation simulation(deployment.workload(), std::move(replicas), *watch.all);
    simulation.run(static_cast<std::int64_t>(5 + seed % 37));
    simulation.cut_off();
    check_sums(watch, watch.timeline.timeline());
    check_cells(watch, watch.cells());
    left += watch.recorder.totals().in_system > 0 ? 1 : 0;
  }
  CHECK(left >= 20);
}

Watch run(const RandomCluster& cluster, Stepper stepper, const TimelineOptions& options) {
  std::vector<RecordedPool> pools;
  for (std::size_t i = 0; i < cluster.pools.size(); ++i) {
    const PoolSetup& pool = cluster.setup.pools[i];
    pools.push_back(
        {.replicas = pool.replicas, .lanes = pool.pipeline, .work = cluster.pools[i].replica.work});
  }
  Watch watch(pools, options);
  Simulation simulation(cluster.workload(), cluster.lanes(stepper, *watch.all),
                        std::make_shared<const ClusterSetup>(cluster.setup), *watch.all);
  simulation.run();
  return watch;
}

TEST_CASE("charts of a cluster add up to its run by either stepper: 100 clusters") {
  Coverage coverage;
  for (std::uint64_t seed = 7000; seed < 7100; ++seed) {
    const RandomCluster cluster = random_cluster(seed);
    CAPTURE(seed);
    INFO(cluster.describe());
    const TimelineOptions options = options_for(seed);
    compare(run(cluster, Stepper::fast, options), run(cluster, Stepper::reference, options), options,
            coverage);
  }
  CHECK(coverage.runs == 100);
  CHECK(coverage.widened >= 30);
  CHECK(coverage.steps >= 10'000);
}

}  // namespace
}  // namespace inferometer::testing
