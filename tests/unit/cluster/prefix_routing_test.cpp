// Routers, admission and local prefill by what replicas have cached. Blocks of 10 tokens, a token a
// microsecond.

#include "tests/unit/cluster/cluster_fixture.hpp"

namespace inferometer::testing {
namespace {

using Split = DisaggregationSetup;

TestRequest prompt_at(std::int64_t arrival_us, std::vector<ContentRun> runs, std::int64_t output = 1) {
  std::int64_t tokens = 0;
  for (const ContentRun& run : runs) {
    tokens += run.tokens;
  }
  TestRequest request = request_at(arrival_us, tokens, output);
  request.content = std::move(runs);
  return request;
}

SmallCluster two_replicas(const std::string& router) {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.pools.front().router = router;
  return cluster;
}

TEST_CASE("a prompt follows what replicas have cached") {
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    SmallCluster cluster = two_replicas("conductor");
    cluster.run({prompt_at(0, {{1, 50}}), prompt_at(1, {{2, 60}}), prompt_at(200, {{2, 60}, {3, 10}}),
                 prompt_at(300, {{1, 50}, {4, 30}}), prompt_at(301, {{4, 50}})},
                stepper);
    CHECK(cluster.replica(1) == 1);  // 50 tokens come before it at replica 0
    CHECK(cluster.replica(2) == 1);
    CHECK(cluster.times(2) == Times{220, 220});  // 10 of its tokens run
    CHECK(cluster.replica(3) == 0);
    CHECK(cluster.times(3) == Times{340, 340});
    CHECK(cluster.replica(4) == 1);
  }
}

TEST_CASE("what runs can be found, but it has to run first") {
  // At 5 replica 0 has 50 tokens to run and caches 40 of them: 60 tokens before the first there, 50 here.
  SmallCluster cluster = two_replicas("conductor");
  cluster.run({prompt_at(0, {{1, 50}}), prompt_at(5, {{1, 50}})});
  CHECK(cluster.replica(1) == 1);
}

TEST_CASE("routers see caches as of the last snapshot") {
  // Replica 0 is away while the first prompt comes, and back at 60. At 95 replica 1 has the prompt cached,
  // which is known from 100 on.
  for (const std::int64_t interval : {0, 100}) {
    for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
      SmallCluster cluster = two_replicas("conductor");
      cluster.setup.state_interval = microseconds(interval);
      cluster.setup.failures.events = {event_at(10, ReplicaEvent::Kind::drain, 0, microseconds(50))};
      cluster.run(
          {prompt_at(20, {{5, 60}}), prompt_at(95, {{5, 60}, {6, 10}}), prompt_at(110, {{5, 60}, {7, 20}})},
          stepper);
      CHECK(cluster.replica(0) == 1);
      CHECK(cluster.replica(1) == (interval == 0 ? 1 : 0));
      CHECK(cluster.replica(2) == 1);
    }
  }
}

TEST_CASE("a replica that was away has nothing cached when it is back") {
  for (const ReplicaEvent::Kind kind : {ReplicaEvent::Kind::drain, ReplicaEvent::Kind::fail}) {
    for (const std::int64_t interval : {0, 100}) {
      SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
      cluster.pools.front().router = "conductor";
      cluster.setup.state_interval = microseconds(interval);
      cluster.setup.failures.events = {event_at(150, kind, 0, microseconds(50))};
      cluster.run({prompt_at(0, {{1, 50}}), prompt_at(100, {{1, 50}, {2, 10}}),
                   prompt_at(300, {{1, 50}, {3, 10}}), prompt_at(500, {{1, 50}, {3, 10}})});
      CHECK(cluster.times(1).first == 120);  // 10 tokens run
      CHECK(cluster.times(2).first == 370);  // all 60 of them
      CHECK(cluster.times(3).first == 520);  // a block short of all
    }
  }
}

TEST_CASE("what a router sent to a replica that was away is forgotten") {
  // The second prompt finds replica 1 idle and follows the first all the same; the last one does not.
  SmallCluster cluster = two_replicas("cache_aware");
  cluster.setup.failures.events = {event_at(300, ReplicaEvent::Kind::fail, 0, microseconds(50))};
  cluster.run({prompt_at(0, {{1, 50}}, 5), prompt_at(5, {{1, 50}, {2, 10}}, 5),
               prompt_at(1000, {{9, 50}}, 20), prompt_at(1005, {{1, 50}, {3, 10}}, 20)});
  CHECK(cluster.replica(1) == 0);
  CHECK(cluster.replica(2) == 0);
  CHECK(cluster.replica(3) == 1);
}

TEST_CASE("admission foresees a first token without what is cached") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
  cluster.setup.admission.ttft = microseconds(39);
  cluster.run(
      {prompt_at(0, {{1, 30}}), prompt_at(100, {{1, 30}, {2, 39}}), prompt_at(300, {{1, 30}, {3, 40}})});
  CHECK(cluster.finished.count(1) == 1);
  CHECK(cluster.rejected.count(2) == 1);
}

TEST_CASE("prompts stay at the decode replica when it has cached enough of them") {
  // Below 20 tokens and 1.1 times the prompt. Of the second prompt's 29 tokens 10 are cached there.
  SmallCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 1)});
  cluster.split().local_prefill = Split::LocalPrefill::isl_bounding;
  cluster.split().max_local_prefill_tokens = 20;
  cluster.split().local_share = 1.1;
  cluster.run({prompt_at(0, {{1, 15}}, 3), prompt_at(200, {{1, 15}, {2, 14}}, 3),
               prompt_at(400, {{1, 15}, {3, 15}}, 3), prompt_at(600, {{4, 29}}, 3)});
  CHECK(cluster.finished.at(0).prefill_replica == -1);
  CHECK(cluster.finished.at(1).prefill_replica == -1);
  CHECK(cluster.finished.at(2).prefill_replica == 0);
  CHECK(cluster.finished.at(3).prefill_replica == 0);
}

}  // namespace
}  // namespace inferometer::testing
