// Clusters that come down to something simpler give just its numbers: over random deployments, request by
// request, to the picosecond.

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/random_deployment.hpp"
#include "tests/unit/router/router_fixture.hpp"

namespace inferometer::testing {
namespace {

constexpr std::uint64_t kDeployments = 100;

/// What became of each request, its number and its replica aside.
using Outcome = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           std::int32_t, std::int64_t>;

class Outcomes : public SimulationObserver {
 public:
  void on_finished(const FinishedRequest& r) override {
    const auto ps = [](TimePoint time) { return time.since_start().count(); };
    finished[r.id] = {ps(r.arrival), ps(r.admitted), ps(r.first_token), ps(r.finished),
                      r.prompt,      r.output,       r.preemptions,     r.max_new};
    first_tokens[r.id] = r.first_token;
  }
  void on_rejected(const RejectedRequest& r) override { rejected[r.id] = r.rejected; }

  std::map<std::int64_t, Outcome> finished;
  std::map<std::int64_t, TimePoint> first_tokens, rejected;
};

PoolSetup pool_of(const RandomDeployment& deployment, PoolRole role, std::int32_t replicas) {
  PoolSetup pool;
  pool.role = role;
  pool.replicas = pool.at_start = replicas;
  pool.places.resize(static_cast<std::size_t>(replicas), {{0, 0}});
  pool.max_model_len = deployment.setup.max_model_len;
  pool.kv_bytes_per_token = Bytes(1);
  pool.make_router = [] { return make_router("policy: round_robin"); };
  return pool;
}

std::vector<Replica> replicas_of(const RandomDeployment& deployment, std::int32_t count,
                                 SimulationObserver& observer) {
  std::vector<Replica> replicas;
  for (std::int32_t index = 0; index < count; ++index) {
    ReplicaConfig config = deployment.replica(Stepper::fast);
    config.index = index;
    replicas.emplace_back(config, deployment.policy(), deployment.pricer, observer);
  }
  return replicas;
}

Outcomes run_alone(const RandomDeployment& deployment) {
  Outcomes outcomes;
  Simulation(deployment.workload(), replicas_of(deployment, 1, outcomes), outcomes).run();
  return outcomes;
}

Outcomes run_cluster_of(const RandomDeployment& deployment, const ClusterSetup& setup) {
  Outcomes outcomes;
  std::int32_t replicas = 0;
  for (const PoolSetup& pool : setup.pools) {
    replicas += pool.replicas;
  }
  Simulation(deployment.workload(), replicas_of(deployment, replicas, outcomes),
             std::make_shared<const ClusterSetup>(setup), outcomes)
      .run();
  return outcomes;
}

void for_deployments(const std::function<void(RandomDeployment&)>& check, bool with_techniques = false) {
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    RandomDeployment deployment = random_deployment(seed, with_techniques);
    CAPTURE(seed);
    INFO(deployment.describe());
    check(deployment);
  }
}

void require_same(const Outcomes& got, const Outcomes& expected) {
  const bool same_finished = got.finished == expected.finished;
  const bool same_rejected = got.rejected == expected.rejected;
  REQUIRE(same_finished);
  REQUIRE(same_rejected);
}

TEST_CASE("a cluster of one replica is that replica") {
  const auto check = [](RandomDeployment& deployment) {
    ClusterSetup setup;
    setup.pools = {pool_of(deployment, PoolRole::mixed, 1)};
    require_same(run_cluster_of(deployment, setup), run_alone(deployment));
  };
  for_deployments(check, true);
}

TEST_CASE("a replica whose neighbour is drained from the start is alone") {
  const auto check = [](RandomDeployment& deployment) {
    for (TestRequest& request : deployment.requests) {
      request.arrival = request.arrival + microseconds(1);
    }
    ClusterSetup setup;
    setup.pools = {pool_of(deployment, PoolRole::mixed, 2)};
    setup.failures.events = {{TimePoint(), ReplicaEvent::Kind::drain, 0, std::nullopt}};
    require_same(run_cluster_of(deployment, setup), run_alone(deployment));
  };
  for_deployments(check, true);
}

TEST_CASE("a pipeline of one stage is none") {
  for_deployments([](RandomDeployment& deployment) {
    Outcomes outcomes;
    const ReplicaConfig config = deployment.replica(Stepper::fast);
    std::vector<Replica> lanes;
    lanes.emplace_back(
        config, deployment.policy(),
        std::make_shared<SequenceStore>(config.blocks, config.block_size, config.caches_prefixes),
        std::make_shared<Pipeline>(std::vector<std::shared_ptr<const StepPricer>>{deployment.pricer}),
        outcomes);
    Simulation(deployment.workload(), std::move(lanes), outcomes).run();
    require_same(outcomes, run_alone(deployment));
  });
}

TEST_CASE("replicas in turn on evenly spaced equal requests are as many separate replicas") {
  std::int64_t finished = 0;
  for_deployments([&](RandomDeployment& deployment) {
    constexpr std::size_t kReplicas = 3;
    constexpr std::size_t kRequestsEach = 8;
    TestRequest request = deployment.requests.front();
    request.prompt = std::min(request.prompt, deployment.setup.max_model_len - 1);
    request.content.clear();
    const Duration gap = microseconds(37);
    deployment.clients = 0;
    deployment.requests.assign(kReplicas * kRequestsEach, request);
    for (std::size_t i = 0; i < deployment.requests.size(); ++i) {
      deployment.requests[i].arrival = TimePoint(gap * static_cast<std::int64_t>(i));
    }
    ClusterSetup setup;
    setup.pools = {pool_of(deployment, PoolRole::mixed, kReplicas)};
    const Outcomes together = run_cluster_of(deployment, setup);
    const std::vector<TestRequest> all = deployment.requests;
    for (std::size_t replica = 0; replica < kReplicas; ++replica) {
      deployment.requests.clear();
      for (std::size_t i = replica; i < all.size(); i += kReplicas) {
        deployment.requests.push_back(all[i]);
      }
      const Outcomes alone = run_alone(deployment);
      Outcomes its;
      for (std::size_t i = 0; i < kRequestsEach; ++i) {
        const auto id = static_cast<std::int64_t>(i * kReplicas + replica);
        if (const auto place = together.finished.find(id); place != together.finished.end()) {
          its.finished[static_cast<std::int64_t>(i)] = place->second;
        }
        if (const auto place = together.rejected.find(id); place != together.rejected.end()) {
          its.rejected[static_cast<std::int64_t>(i)] = place->second;
        }
      }
      require_same(its, alone);
      finished += static_cast<std::int64_t>(alone.finished.size());
    }
  });
  CHECK(finished > 1000);
}

TEST_CASE("first tokens of a split cluster without a network are those of a replica that only prefills") {
  std::int64_t compared = 0;
  for_deployments([&](RandomDeployment& deployment) {
    const std::string& policy = deployment.setup.policy;
    if (policy == "static" || policy == "orca") {
      return;  // which a decode replica cannot have
    }
    deployment.clients = 0;
    // Prompts that wait for the decode replica to read them keep no blocks from those behind them.
    constexpr std::int64_t kPlenty = 100;
    deployment.setup.blocks *= kPlenty;
    ClusterSetup setup;
    setup.pools = {pool_of(deployment, PoolRole::prefill, 1), pool_of(deployment, PoolRole::decode, 1)};
    setup.disaggregation.emplace();
    const Outcomes split = run_cluster_of(deployment, setup);
    for (TestRequest& request : deployment.requests) {
      request.output = request.max_new = 1;
    }
    const Outcomes prefills = run_alone(deployment);
    const bool same = split.first_tokens == prefills.first_tokens;
    REQUIRE(same);
    compared += static_cast<std::int64_t>(split.first_tokens.size());
  });
  CHECK(compared > 500);
}

}  // namespace
}  // namespace inferometer::testing
