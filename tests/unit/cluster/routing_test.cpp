// Who gets a request of a small cluster, and who is turned away.

#include "tests/unit/cluster/cluster_fixture.hpp"

namespace inferometer::testing {
namespace {

using Split = DisaggregationSetup;
using Rejection = std::pair<std::int64_t, std::string>;

SmallCluster split_cluster(std::int32_t decodes = 1, std::int32_t mixed = 0) {
  std::vector<SmallPool> pools{small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, decodes)};
  if (mixed > 0) {
    pools.push_back(small_pool(PoolRole::mixed, mixed));
  }
  return SmallCluster(std::move(pools));
}

TEST_CASE("a cluster takes so many requests a replica and turns the next away") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
  cluster.setup.admission.max_outstanding = 1;
  cluster.run({request_at(0, 20, 3), request_at(5, 20, 3), request_at(52, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 52});
  CHECK(cluster.rejected.at(1) == Rejection{5, "the cluster had as many requests as admission allows"});
  CHECK(cluster.times(2) == Times{82, 104});  // the first has left at the moment when it comes
  CHECK(cluster.totals().rejected == 1);
}

TEST_CASE("a request whose first token is foreseen too late is turned away") {
  // A token a microsecond: 20 before it and 20 of its own.
  SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
  cluster.setup.admission.ttft = microseconds(39);
  cluster.run({request_at(0, 20, 3), request_at(0, 20, 3), request_at(30, 39, 3), request_at(100, 40, 3)});
  CHECK(cluster.rejected.at(1).first == 0);
  CHECK(cluster.finished.count(2) == 1);
  CHECK(cluster.rejected.at(3) ==
        Rejection{100, "its first token was foreseen to come later than admission allows"});
}

TEST_CASE("a prompt without room for a token is turned away and its replica goes on") {
  // It comes at the end of a decode step, where the other one's steps are cut short.
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    SmallCluster cluster({small_pool(PoolRole::mixed, 1)});
    cluster.run({request_at(0, 20, 5), request_at(41, 100, 1), request_at(500, 20, 1)}, stepper);
    CHECK(cluster.times(0) == Times{30, 74});
    CHECK(cluster.rejected.at(1).first == 41);
    CHECK(cluster.times(2) == Times{530, 530});
  }
}

TEST_CASE("short prompts stay at the decode replica") {
  SmallCluster cluster = split_cluster();
  cluster.split().local_prefill = Split::LocalPrefill::short_prompt;
  cluster.split().max_local_prefill_tokens = 10;
  cluster.run({request_at(0, 10, 3), request_at(100, 11, 3)});
  CHECK(cluster.times(0) == Times{20, 42});
  CHECK(cluster.finished.at(0).prefill_replica == -1);
  CHECK(cluster.finished.at(1).prefill_replica == 0);
  CHECK(cluster.totals().local_prefills == 1);
}

TEST_CASE("prompts stay at the decode replica while as many as allowed wait for prefill") {
  // The first runs and the second waits: the third finds one waiting.
  SmallCluster cluster = split_cluster();
  cluster.split().local_prefill = Split::LocalPrefill::short_or_busy;
  cluster.split().prefill_queue_limit = 1;
  cluster.run({request_at(0, 20, 3), request_at(1, 20, 3), request_at(2, 20, 3), request_at(200, 20, 3)});
  CHECK(cluster.finished.at(0).prefill_replica == 0);
  CHECK(cluster.finished.at(1).prefill_replica == 0);
  CHECK(cluster.finished.at(2).prefill_replica == -1);
  CHECK(cluster.finished.at(3).prefill_replica == 0);
}

TEST_CASE("prompts stay at the decode replica while too many tokens wait for prefill") {
  for (const auto rule : {Split::LocalPrefill::prefill_load, Split::LocalPrefill::isl_or_load}) {
    SmallCluster cluster = split_cluster();
    cluster.split().local_prefill = rule;
    cluster.split().prefill_load_tokens = 19;
    cluster.run({request_at(0, 19, 3), request_at(1, 1, 3), request_at(2, 20, 3)});
    CHECK(cluster.finished.at(0).prefill_replica == 0);
    CHECK(cluster.finished.at(1).prefill_replica == 0);   // 19 are not more than 19
    CHECK(cluster.finished.at(2).prefill_replica == -1);  // 20 are
  }
}

TEST_CASE("prompts within bounds stay when their share that is not cached is below the limit") {
  // Nothing is cached: the share is 1.
  for (const double share : {0.7, 1.0, 1.1}) {
    SmallCluster cluster = split_cluster();
    cluster.split().local_prefill = Split::LocalPrefill::isl_bounding;
    cluster.split().max_local_prefill_tokens = 20;
    cluster.split().local_share = share;
    cluster.run({request_at(0, 19, 3), request_at(200, 20, 3)});
    CHECK(cluster.finished.at(0).prefill_replica == (share > 1 ? -1 : 0));
    CHECK(cluster.finished.at(1).prefill_replica == 0);
  }
}

TEST_CASE("prompts overflow to the mixed pool and from there to the decode replica with least to prefill") {
  SmallCluster cluster = split_cluster(2, 1);
  cluster.split().overflow_tokens = 15;
  cluster.run({request_at(0, 20, 3), request_at(1, 20, 3), request_at(2, 20, 3), request_at(3, 20, 3),
               request_at(500, 20, 3)});
  CHECK(cluster.finished.at(0).prefill_replica == 0);
  CHECK(cluster.replica(1) == 3);
  CHECK(cluster.replica(2) == 1);
  CHECK(cluster.replica(3) == 2);
  CHECK(cluster.finished.at(4).prefill_replica == 0);
  CHECK(cluster.totals().local_prefills == 3);
}

TEST_CASE("routers see replicas as of the last snapshot") {
  SmallCluster cluster({small_pool(PoolRole::mixed, 2)});
  cluster.pools.front().router = "least_outstanding";
  cluster.setup.state_interval = microseconds(100);
  cluster.run({request_at(10, 20, 30), request_at(20, 20, 30), request_at(99, 20, 30), request_at(101, 20, 3),
               request_at(150, 20, 3)});
  CHECK(cluster.replica(0) == 0);
  CHECK(cluster.replica(1) == 0);
  CHECK(cluster.replica(2) == 0);
  CHECK(cluster.replica(3) == 1);
  CHECK(cluster.replica(4) == 1);
}

TEST_CASE("snapshots go on while prompts are between replicas") {
  // At 100 nobody has the first request, from 180 on replica 1 has it: the short one at 250 sees that.
  SmallCluster cluster = split_cluster(2);
  cluster.pools.back().router = "least_outstanding";
  cluster.setup.state_interval = microseconds(100);
  cluster.split().hop = microseconds(150);
  cluster.split().local_prefill = Split::LocalPrefill::short_prompt;
  cluster.split().max_local_prefill_tokens = 10;
  cluster.run({request_at(0, 20, 50), request_at(250, 5, 3)});
  CHECK(cluster.replica(0) == 1);
  CHECK(cluster.replica(1) == 2);
}

}  // namespace
}  // namespace inferometer::testing
