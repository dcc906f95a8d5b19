// Replicas of small clusters fail, drain, start and move. A prompt of 20 tokens takes 30 microseconds to
// prefill, its KV 20 on the link, a token alone 11.

#include "tests/unit/cluster/cluster_fixture.hpp"

namespace inferometer::testing {
namespace {

using Kind = ReplicaEvent::Kind;
using Rejection = std::pair<std::int64_t, std::string>;

SmallCluster split_cluster(std::int32_t prefills, std::int32_t decodes) {
  SmallCluster cluster({small_pool(PoolRole::prefill, prefills), small_pool(PoolRole::decode, decodes)});
  cluster.share_a_link();
  return cluster;
}

TEST_CASE("a mixed replica that fails loses its tokens and its requests begin again elsewhere") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.setup.failures.events = {event_at(45, Kind::fail, 0)};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{75, 97});
  CHECK(cluster.finished.at(0).retries == 1);
  CHECK(cluster.replica(0) == 1);
  CHECK(cluster.totals().lost_tokens == 2);  // at 30 and 41
  CHECK(cluster.paid(0) == 45);
}

TEST_CASE("a mixed replica that fails loses its requests when none is begun again") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.setup.failures.retry = false;
  cluster.setup.failures.events = {event_at(45, Kind::fail, 0)};
  cluster.run({request_at(0, 20, 3), request_at(0, 20, 3)});
  CHECK(cluster.rejected.at(0) == Rejection{45, "the replica that had it failed"});
  CHECK(cluster.times(1) == Times{30, 52});
  CHECK(cluster.totals().lost == 1);
  CHECK(cluster.totals().retries == 0);
}

TEST_CASE("KV in flight is lost with the prefill replica") {
  SmallCluster cluster = split_cluster(2, 1);
  cluster.setup.failures.events = {event_at(40, Kind::fail, 0)};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{70, 70 + 20 + 2 * 11});
  CHECK(cluster.finished.at(0).prefill_replica == 1);
  CHECK(cluster.finished.at(0).retries == 1);
  CHECK(cluster.totals().lost_tokens == 1);
  SmallCluster lose = split_cluster(2, 1);
  lose.setup.failures = {false, {event_at(40, Kind::fail, 0)}};
  lose.run({request_at(0, 20, 3)});
  CHECK(lose.rejected.at(0) == Rejection{40, "the replica that had it failed"});
  CHECK(lose.totals().lost_tokens == 1);
}

TEST_CASE("KV in flight to a decode replica that fails goes to another one") {
  SmallCluster cluster = split_cluster(1, 2);
  cluster.setup.failures.events = {event_at(40, Kind::fail, 1)};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 40 + 20 + 2 * 11});
  CHECK(cluster.replica(0) == 2);
  CHECK(cluster.finished.at(0).retries == 0);
  CHECK((cluster.finished.at(0).handover == microseconds(30)));
  CHECK(cluster.totals().transfers == 2);
  CHECK(cluster.totals().lost_tokens == 0);
}

TEST_CASE("a decode replica that fails while it decodes has the prompt computed again") {
  SmallCluster cluster = split_cluster(1, 2);
  cluster.setup.failures.events = {event_at(70, Kind::fail, 1)};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{100, 100 + 20 + 2 * 11});
  CHECK(cluster.replica(0) == 2);
  CHECK(cluster.totals().lost_tokens == 2);  // at 30 and 61
}

TEST_CASE("prompts that no decode replica will ever fetch are lost") {
  SmallCluster cluster = split_cluster(1, 1);
  cluster.split().hop = microseconds(5);
  cluster.setup.failures.events = {event_at(32, Kind::fail, 1)};
  cluster.run({request_at(0, 20, 3), request_at(33, 20, 3)});
  CHECK(cluster.rejected.at(0) == Rejection{35, "no replica was there to take it"});
  CHECK(cluster.rejected.at(1) == Rejection{33, "no replica was there to take it"});
  CHECK(cluster.totals().lost == 1);
  CHECK(cluster.totals().rejected == 1);
}

TEST_CASE("a drained replica finishes what it has and takes nothing until it is back") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.setup.failures.events = {event_at(5, Kind::drain, 0, microseconds(100))};
  cluster.run({request_at(0, 20, 3), request_at(10, 20, 3), request_at(20, 20, 3), request_at(110, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 52});
  CHECK(cluster.replica(1) == 1);
  CHECK(cluster.replica(2) == 1);
  CHECK(cluster.replica(3) == 0);
  CHECK(cluster.paid(0) == 52 + (162 - 105));
  CHECK(cluster.totals().drains == 1);
  CHECK(cluster.totals().starts == 1);
}

TEST_CASE("what is due after the last request does not happen and is not paid for") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.setup.failures.events = {event_at(45, Kind::drain, 1, microseconds(100)),
                                   event_at(1000, Kind::fail, 0, microseconds(10))};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 30 + 2 * 11});
  CHECK((cluster.simulation->now() == TimePoint(microseconds(52))));
  CHECK(cluster.totals().drains == 1);
  CHECK(cluster.totals().starts == 0);
  CHECK(cluster.totals().failures == 0);
  CHECK(cluster.paid(0) == 52);
  CHECK(cluster.paid(1) == 45);
}

TEST_CASE("a drained prefill replica is off when its last KV is fetched though no network carries it") {
  // 4 blocks of 10 tokens: the second prompt finds room when the first request is done, at 60 + 4 * 11.
  SmallCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 1)});
  cluster.pools.back().engine.blocks = 4;
  cluster.pools.back().engine.max_model_len = 40;
  cluster.setup.failures.events = {event_at(65, Kind::drain, 0)};
  cluster.run({request_at(0, 30, 5), request_at(0, 20, 2)});
  CHECK(cluster.times(1) == Times{60, 104 + 11});
  CHECK(cluster.paid(0) == 104);
}

TEST_CASE("a replica that waits to be started is not started by a failure that it would come back from") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.pools.front().setup.at_start = 1;
  cluster.setup.failures.events = {event_at(5, Kind::fail, 1, microseconds(10)),
                                   event_at(6, Kind::drain, 1, microseconds(10))};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 52});
  CHECK(cluster.totals().starts == 0);
  CHECK(cluster.paid(1) == 0);
}

TEST_CASE("requests are held until a replica is up or nobody can come") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
  cluster.setup.start_up.boot = microseconds(20);
  cluster.setup.failures.events = {event_at(10, Kind::fail, 0, microseconds(100))};
  cluster.run({request_at(0, 20, 2), request_at(50, 20, 2)});
  // Up at 10 + 100 + 20; both prompts in one step.
  CHECK(cluster.times(0) == Times{180, 192});
  CHECK(cluster.times(1) == Times{180, 192});
  SmallCluster gone({small_pool(PoolRole::mixed, 1)});
  gone.setup.failures.events = {event_at(10, Kind::fail, 0)};
  gone.run({request_at(0, 20, 2), request_at(50, 20, 2)});
  CHECK(gone.rejected.at(0) == Rejection{10, "no replica was there to take it"});
  CHECK(gone.rejected.at(1) == Rejection{50, "no replica was there to take it"});
}

TEST_CASE("a replica that fails while it loads its weights does not come up") {
  // Down at 10, started at 20, booted at 40, loaded at 80 unless it fails before.
  for (const std::int64_t fails : {79, 81}) {
    SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
    cluster.share_a_link();
    cluster.setup.start_up = {microseconds(20), true};
    cluster.setup.failures.events = {event_at(10, Kind::fail, 0, microseconds(10)),
                                     event_at(fails, Kind::fail, 0)};
    cluster.run({request_at(0, 20, 2), request_at(200, 20, 2)});
    CHECK(cluster.rejected.at(0) == Rejection{fails, "no replica was there to take it"});
    CHECK(cluster.rejected.at(1).first == 200);
    CHECK(cluster.paid(0) == 10 + fails - 20);
    CHECK(cluster.finished.empty());
  }
}

TEST_CASE("autoscaling starts a replica for too much load and drains it for too little") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.share_a_link();
  cluster.pools.front().router = "least_outstanding";
  cluster.pools.front().setup.at_start = 1;
  cluster.setup.start_up = {microseconds(50), true};
  AutoscalingSetup rule;
  rule.interval = microseconds(100);
  rule.fewest = 1;
  rule.most = 2;
  rule.scale_down_after = microseconds(100);
  cluster.setup.autoscaling = {rule};
  // Started at 100, booted at 150, weights of 40 microseconds loaded at 190. The three are done at 70 + 19 *
  // 13 = 317, but for the other at 189: less than 1.8 requests are there from 400 on.
  cluster.run({request_at(0, 20, 20), request_at(0, 20, 20), request_at(0, 20, 20), request_at(189, 20, 1),
               request_at(191, 20, 1), request_at(1000, 20, 1)});
  CHECK(cluster.replica(3) == 0);
  CHECK(cluster.replica(4) == 1);
  CHECK(cluster.replica(5) == 0);
  CHECK(cluster.totals().starts == 1);
  CHECK(cluster.totals().drains == 1);
  CHECK(cluster.paid(1) == 400);  // from 100 to 500
}

TEST_CASE("a target next to nothing asks for as many replicas as there may be") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 3)});
  cluster.pools.front().setup.at_start = 1;
  cluster.setup.start_up = {};
  AutoscalingSetup rule;
  rule.interval = microseconds(10);
  rule.target_outstanding = 1e-300;  // of one request, 1e300 replicas
  rule.fewest = 1;
  rule.most = 3;
  cluster.setup.autoscaling = {rule};
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.totals().starts == 2);
}

TEST_CASE("a prefill replica goes over when the decode replicas are full") {
  SmallCluster cluster = split_cluster(2, 1);
  cluster.pools.back().engine.blocks = 10;
  cluster.setup.dynamic_split = DynamicSplitSetup{microseconds(100), seconds(1), 0.22};
  // At 100 the decode replica holds 23 of 100 tokens or more.
  cluster.run({request_at(0, 20, 40), request_at(150, 20, 3), request_at(151, 20, 3)});
  CHECK(cluster.totals().moves == 1);
  CHECK(cluster.fleet().role(0) == PoolRole::decode);
  CHECK(cluster.finished.at(1).prefill_replica == 1);
  CHECK(cluster.finished.at(2).prefill_replica == 1);
  CHECK(cluster.replica(1) + cluster.replica(2) == 0 + 2);  // in turn
}

TEST_CASE("a decode replica goes over to a long backlog when it has ended what it began") {
  SmallCluster cluster = split_cluster(1, 2);
  cluster.setup.dynamic_split = DynamicSplitSetup{microseconds(100), microseconds(50), 1.0};
  cluster.pools.front().engine.max_num_seqs = 1;
  // Each decode replica has one of the first two requests when at 100 more than 50 tokens wait for prefill.
  // They are alike busy: the first of them goes, when its request is done.
  cluster.run({request_at(0, 20, 30), request_at(0, 20, 30), request_at(90, 80, 2), request_at(95, 80, 2)});
  CHECK(cluster.totals().moves == 1);
  CHECK(cluster.fleet().role(1) == PoolRole::prefill);
  CHECK(cluster.replica(0) == 1);
  CHECK(cluster.times(0) == Times{30, 30 + 20 + 29 * 11});
  CHECK(cluster.replica(2) == 2);
  CHECK(cluster.replica(3) == 2);
}

}  // namespace
}  // namespace inferometer::testing
