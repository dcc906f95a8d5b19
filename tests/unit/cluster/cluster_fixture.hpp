#pragma once

// Small clusters with round numbers: a step takes 10 microseconds and one more for each token, the KV of a
// token crosses the network in one, so that everything can be worked out in the head.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/shared_link_network.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/router/router_fixture.hpp"

namespace inferometer::testing {

struct SmallPool {
  PoolSetup setup;
  EngineSetup engine;
  std::string router = "round_robin";
  std::vector<StepCosts> stages;  ///< of its pipeline; empty: it has none
};

/// Chunked prefill, prompts uncut; 100 blocks of 10 tokens, 8 sequences.
inline SmallPool small_pool(PoolRole role, std::int32_t replicas) {
  SmallPool pool;
  pool.engine.policy = "chunked_prefill";
  pool.engine.keys = "max_num_batched_tokens: 1000";
  pool.engine.block_size = 10;
  pool.setup.role = role;
  pool.setup.replicas = pool.setup.at_start = replicas;
  pool.setup.kv_bytes_per_token = Bytes(1000);
  pool.setup.weights = Bytes(40'000);
  pool.setup.prefill_tokens_per_second = 1e6;
  return pool;
}

class SmallCluster : public SimulationObserver {
 public:
  std::vector<SmallPool> pools;
  ClusterSetup setup;

  explicit SmallCluster(std::vector<SmallPool> of) : pools(std::move(of)) {
    setup.start_up.loads_weights = false;
    if (pools.size() > 1) {
      setup.disaggregation.emplace();
    }
  }

  /// Everybody shares a link that carries a token's KV in a microsecond.
  void share_a_link() {
    setup.make_network = [] { return make_shared_link_network(nanoseconds(1)); };
  }
  DisaggregationSetup& split() { return *setup.disaggregation; }

  void run(const std::vector<TestRequest>& requests, Stepper stepper = Stepper::fast) {
    ClusterSetup whole = setup;
    std::vector<Replica> lanes;
    std::int32_t index = 0;
    for (SmallPool pool : pools) {
      pool.setup.max_model_len = pool.engine.max_model_len;
      pool.setup.pipeline = pool.stages.empty() ? 1 : static_cast<std::int32_t>(pool.stages.size());
      pool.setup.make_router = [text = "policy: " + pool.router] { return make_router(text); };
      for (std::int32_t replica = 0; replica < pool.setup.replicas; ++replica) {
        pool.setup.places.push_back({{index, 0}});
        add_lanes(pool, index++, stepper, lanes);
      }
      whole.pools.push_back(pool.setup);
    }
    simulation = std::make_unique<Simulation>(make_list_workload(requests), std::move(lanes),
                                              std::make_shared<const ClusterSetup>(std::move(whole)), *this);
    simulation->run();
  }

  void on_arrival(const Request& request, std::int64_t waiting) override {
    found_waiting[request.id] = waiting;
  }
  void on_rejected(const RejectedRequest& request) override {
    rejected[request.id] = {us(request.rejected), std::string(request.reason)};
  }
  void on_finished(const FinishedRequest& request) override { finished[request.id] = request; }
  void on_steps(const StepRecord& record) override {
    visit_steps(record, [this](const StepRecord& step) {
      bubbles.push_back(step.stretch.cost().bubble.count() / kMicrosecond);
    });
  }

  [[nodiscard]] const ClusterTotals& totals() const { return simulation->coordinator()->totals(); }
  [[nodiscard]] const Fleet& fleet() const { return simulation->coordinator()->fleet(); }
  /// First token and end of a request, in microseconds.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> times(std::int64_t id) const {
    return {us(finished.at(id).first_token), us(finished.at(id).finished)};
  }
  [[nodiscard]] std::int64_t admitted(std::int64_t id) const { return us(finished.at(id).admitted); }
  [[nodiscard]] std::int32_t replica(std::int64_t id) const { return finished.at(id).replica; }
  [[nodiscard]] std::int64_t paid(std::int32_t replica) const {
    return fleet().paid(replica, simulation->now()).count() / kMicrosecond;
  }

  std::unique_ptr<Simulation> simulation;
  std::map<std::int64_t, FinishedRequest> finished;
  std::map<std::int64_t, std::pair<std::int64_t, std::string>> rejected;  ///< microsecond and reason
  std::map<std::int64_t, std::int64_t> found_waiting;                     ///< by the request that came
  std::vector<std::int64_t> bubbles;                                      ///< of the steps, as they ended

 private:
  static constexpr std::int64_t kMicrosecond = 1'000'000;

  static std::int64_t us(TimePoint time) { return time.since_start().count() / kMicrosecond; }

  void add_lanes(const SmallPool& pool, std::int32_t index, Stepper stepper, std::vector<Replica>& lanes) {
    ReplicaConfig config = replica_config(pool.engine);
    config.index = index;
    config.stepper = stepper;
    if (pool.stages.empty()) {
      lanes.emplace_back(config, make_policy(pool.engine), make_test_pricer(pool.engine.costs), *this);
      return;
    }
    std::vector<std::shared_ptr<const StepPricer>> stages;
    for (const StepCosts& costs : pool.stages) {
      stages.push_back(make_test_pricer(costs));
    }
    const auto store =
        std::make_shared<SequenceStore>(config.blocks, config.block_size, config.caches_prefixes);
    const auto pipeline = std::make_shared<Pipeline>(std::move(stages));
    for (config.lane = 0; config.lane < static_cast<std::int32_t>(pool.stages.size()); ++config.lane) {
      lanes.emplace_back(config, make_policy(pool.engine), store, pipeline, *this);
    }
  }
};

using Times = std::pair<std::int64_t, std::int64_t>;

inline ReplicaEvent event_at(std::int64_t us, ReplicaEvent::Kind kind, std::int32_t replica,
                             std::optional<Duration> lasts = std::nullopt) {
  return {TimePoint(microseconds(us)), kind, replica, lasts};
}

}  // namespace inferometer::testing
