// Two stages of 10 and 30 microseconds a token, a sequence in each micro-batch.

#include "tests/unit/cluster/cluster_fixture.hpp"

namespace inferometer::testing {
namespace {

SmallPool two_stages() {
  SmallPool pool = small_pool(PoolRole::mixed, 1);
  pool.engine.max_num_seqs = 1;
  pool.stages = {{.fixed = 0, .per_token = 10}, {.fixed = 0, .per_token = 30}};
  return pool;
}

TEST_CASE("a full pipeline ends a micro-batch each time its slowest stage has done one") {
  // The first enters the stages at 0 and 10, the second at 10 and 40: it waits for 10 and 20. From then on
  // each waits for the second stage.
  SmallCluster cluster({two_stages()});
  cluster.run({request_at(0, 1, 3), request_at(0, 1, 3)});
  CHECK(cluster.times(0) == Times{40, 160});
  CHECK(cluster.times(1) == Times{70, 190});
  CHECK(cluster.bubbles == std::vector<std::int64_t>{0, 30, 20, 20, 20, 20});
}

TEST_CASE("a request alone passes the stages one after the other") {
  SmallCluster cluster({two_stages()});
  cluster.run({request_at(0, 1, 3)});
  CHECK(cluster.times(0) == Times{40, 120});
  CHECK(cluster.bubbles == std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("host time delays a micro-batch and holds no stage") {
  SmallPool pool = two_stages();
  pool.stages.back().fixed = 25;
  SmallCluster cluster({pool});
  cluster.run({request_at(0, 1, 2), request_at(0, 1, 2)});
  // Stages are left at 40 and 70, the host is done at 65 and 95; the next passes end at 105 and 135.
  CHECK(cluster.times(0) == Times{65, 130});
  CHECK(cluster.times(1) == Times{95, 160});
}

TEST_CASE("a pipeline that fails is empty when it starts again") {
  SmallCluster cluster({two_stages()});
  cluster.setup.failures.events = {event_at(50, ReplicaEvent::Kind::fail, 0, microseconds(10))};
  cluster.run({request_at(0, 1, 3), request_at(0, 1, 3)});
  CHECK(cluster.times(0) == Times{60 + 40, 60 + 160});
  CHECK(cluster.times(1) == Times{60 + 70, 60 + 190});
  CHECK(cluster.totals().lost_tokens == 1);  // the first one's at 40
}

}  // namespace
}  // namespace inferometer::testing
