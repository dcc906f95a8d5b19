// Traces of random runs: the same bytes by either stepper, slices that do not overlap, counters that end at
// 0.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/trace/timeline_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_deployment.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::testing {
namespace {

using Json = nlohmann::json;

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string trace_of(const RandomDeployment& deployment, Stepper stepper, const TraceWindow& window) {
  const test::TemporaryDirectory folder;
  const std::string file = folder.file("trace.json");
  TimelineWriter trace(file, {{"mixed 0", "1 x gpu", 1, {deployment.pricer}}}, window);
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(stepper), deployment.policy(), deployment.pricer, trace);
  Simulation simulation(deployment.workload(), std::move(replicas), trace);
  simulation.run();
  trace.finish(simulation.now());
  return text_of(file);
}

std::vector<TraceReplica> replicas_of(const RandomCluster& cluster) {
  std::vector<TraceReplica> replicas;
  for (std::size_t i = 0; i < cluster.pools.size(); ++i) {
    const RandomPool& pool = cluster.pools[i];
    const auto stages = pool.stages.empty() ? std::vector{pool.replica.pricer} : pool.stages;
    for (std::int32_t number = 0; number < cluster.setup.pools[i].replicas; ++number) {
      replicas.push_back(
          {"replica " + std::to_string(replicas.size()), "1 x gpu", cluster.setup.pools[i].pipeline, stages});
    }
  }
  return replicas;
}

std::string trace_of(const RandomCluster& cluster, Stepper stepper, const TraceWindow& window) {
  const test::TemporaryDirectory folder;
  const std::string file = folder.file("trace.json");
  TimelineWriter trace(file, replicas_of(cluster), window);
  Simulation simulation(cluster.workload(), cluster.lanes(stepper, trace),
                        std::make_shared<const ClusterSetup>(cluster.setup), trace);
  if (const Network* network = simulation.coordinator()->network()) {
    trace.watch(*network);
  }
  simulation.run();
  trace.finish(simulation.now());
  return text_of(file);
}

/// What a whole trace comes to. Times as written: microseconds to six decimals are exact in a double up to
/// some hours, and these runs take less.
struct Found {
  std::int64_t steps = 0, overlaps = 0, open_slices = 0, transfers = 0;
  std::map<std::string, double> last_values;
};

std::int64_t ps(const Json& us) {
  return std::llround(us.get<double>() * 1e6);
}

Found look_at(const std::string& text) {
  Found found;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>> threads;
  std::map<std::string, std::pair<std::int64_t, double>> counters;
  const Json trace = Json::parse(text);
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "X") {
      ++found.steps;
      threads[{event["pid"], event["tid"]}].emplace_back(ps(event["ts"]), ps(event["ts"]) + ps(event["dur"]));
    } else if (phase == "b" || phase == "e") {
      found.open_slices += phase == "b" ? 1 : -1;
      found.transfers += phase == "b" && event["cat"] == "transfer" ? 1 : 0;
    } else if (phase == "C") {
      auto& [time, value] = counters[event["pid"].dump() + event["name"].get<std::string>()];
      if (ps(event["ts"]) >= time) {
        time = ps(event["ts"]);
        value = event["args"].front();
      }
    }
  }
  for (auto& [thread, slices] : threads) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) {
      found.overlaps += slices[i].first < slices[i - 1].second ? 1 : 0;
    }
  }
  for (const auto& [name, last] : counters) {
    found.last_values[name] = last.second;
  }
  return found;
}

void check(const Found& found) {
  CHECK(found.overlaps == 0);
  CHECK(found.open_slices == 0);
  for (const auto& [counter, value] : found.last_values) {
    INFO(counter);
    CHECK(value == 0);
  }
}

// Reading a trace takes longer than writing it. Whole traces only, as what ends with a window ends in the
// middle.
bool is_looked_at(std::uint64_t seed) {
  return seed % 6 == 1;
}

/// Whole traces, and some of a window.
TraceWindow window_of(std::uint64_t seed) {
  return seed % 3 == 0 ? TraceWindow{TimePoint(milliseconds(50)), TimePoint(milliseconds(400))}
                       : TraceWindow{};
}

TEST_CASE("a trace has the same bytes by either stepper: 40 deployments") {
  std::int64_t steps = 0;
  for (std::uint64_t seed = 7000; seed < 7040; ++seed) {
    const RandomDeployment deployment = random_deployment(seed);
    CAPTURE(seed);
    INFO(deployment.describe());
    const TraceWindow window = window_of(seed);
    const std::string fast = trace_of(deployment, Stepper::fast, window);
    REQUIRE((fast == trace_of(deployment, Stepper::reference, window)));
    if (is_looked_at(seed)) {
      const Found found = look_at(fast);
      check(found);
      steps += found.steps;
    }
  }
  CHECK(steps > 1'000);
}

TEST_CASE("a trace of a cluster has the same bytes by either stepper: 100 clusters") {
  std::int64_t steps = 0, transfers = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RandomCluster cluster = random_cluster(seed);
    CAPTURE(seed);
    INFO(cluster.describe());
    const TraceWindow window = window_of(seed);
    const std::string fast = trace_of(cluster, Stepper::fast, window);
    REQUIRE((fast == trace_of(cluster, Stepper::reference, window)));
    if (is_looked_at(seed)) {
      const Found found = look_at(fast);
      check(found);
      steps += found.steps;
      transfers += found.transfers;
    }
  }
  CHECK(steps > 1'000);
  CHECK(transfers > 50);
}

}  // namespace
}  // namespace inferometer::testing
