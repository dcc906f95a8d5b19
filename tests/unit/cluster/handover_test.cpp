// A prompt of 20 tokens takes a prefill of 30 microseconds, its KV 20 on the link, a token alone 11.

#include "sim/network/platform.hpp"
#include "tests/unit/cluster/cluster_fixture.hpp"

namespace inferometer::testing {
namespace {

using Split = DisaggregationSetup;

SmallCluster one_and_one() {
  SmallCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 1)});
  cluster.share_a_link();
  return cluster;
}

TEST_CASE("a pulled prompt has its first token from the prefill and decodes after hop and transfer") {
  SmallCluster cluster = one_and_one();
  cluster.split().hop = microseconds(5);
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{30, 30 + 5 + 20 + 2 * 11});
  CHECK((cluster.finished.at(0).handover == microseconds(25)));
  CHECK(cluster.finished.at(0).prefill_replica == 0);
  CHECK(cluster.replica(0) == 1);
  CHECK(cluster.totals().handed_over == 1);
  CHECK((cluster.totals().transferred == Bytes(20'000)));
  CHECK(cluster.totals().discarded_tokens == 0);
}

TEST_CASE("a first token from the decode replica comes one decode step after the transfer") {
  SmallCluster cluster = one_and_one();
  cluster.split().hop = microseconds(5);
  cluster.split().first_token_from_decode = true;
  cluster.run({request_at(0, 20, 3)});
  CHECK(cluster.times(0) == Times{30 + 5 + 20 + 11, 30 + 5 + 20 + 3 * 11});
  CHECK(cluster.totals().discarded_tokens == 1);
}

TEST_CASE("a request of one token ends at the prefill replica unless its token comes from the other") {
  SmallCluster cluster = one_and_one();
  cluster.run({request_at(0, 20, 1)});
  CHECK(cluster.times(0) == Times{30, 30});
  CHECK(cluster.replica(0) == 0);
  CHECK(cluster.totals().completed == 1);
  CHECK(cluster.totals().transfers == 0);
  SmallCluster other = one_and_one();
  other.split().first_token_from_decode = true;
  other.run({request_at(0, 20, 1)});
  CHECK(other.times(0) == Times{61, 61});
  CHECK(other.totals().completed == 0);
}

/// Exposed time of layer-wise push, in microseconds, at such a bandwidth.
std::int64_t exposed(std::int64_t layers, double bytes_per_second) {
  SmallCluster cluster = one_and_one();
  cluster.split().transfer = Split::Transfer::push;
  cluster.pools.front().setup.layers = layers;
  const BytesPerSecond rate(bytes_per_second);
  const Platform platform{.nodes = std::vector<NodeSpec>(2, {.gpus = 1,
                                                             .gpu_bandwidth = rate,
                                                             .gpu_latency = {},
                                                             .nics = 1,
                                                             .nic_bandwidth = rate,
                                                             .storage_bandwidth = rate}),
                          .fabric = {.nodes_per_leaf = 2, .oversubscription = 1, .latency = {}},
                          .transfer = {}};
  cluster.setup.make_network = [platform] { return make_ideal_network(platform); };
  cluster.run({request_at(0, 20, 3)});
  return cluster.finished.at(0).handover.count() / 1'000'000;
}

TEST_CASE("a push layer by layer exposes what the prefill does not hide or its last layer") {
  // Transfer X, prefill 30 and L layers: max(X - 30 (L - 1) / L, X / L).
  CHECK(exposed(5, 1e9) == 4);    // X = 20: max(-4, 4)
  CHECK(exposed(5, 2e8) == 76);   // X = 100: max(76, 20)
  CHECK(exposed(10, 5e8) == 13);  // X = 40: max(13, 4)
  CHECK(exposed(1, 1e9) == 20);   // nothing is hidden
  CHECK(exposed(10, 1e9) == 2);   // X = 20: max(-7, 2)
}

TEST_CASE("who waits for blocks before the prefill begins counts as waiting") {
  SmallCluster cluster = one_and_one();
  cluster.split().transfer = Split::Transfer::push;
  cluster.split().decode_first = true;
  cluster.pools.back().engine.blocks = 3;  // of 10 tokens: room for one prompt of 20
  cluster.pools.back().engine.max_model_len = 30;
  cluster.run({request_at(0, 20, 3), request_at(10, 20, 3), request_at(20, 20, 3)});
  CHECK(cluster.found_waiting.at(1) == 0);
  CHECK(cluster.found_waiting.at(2) == 1);
}

TEST_CASE("KV that nobody reads in time is given up and its prompt computed again or lost") {
  // The transfer from 30 to 50 is broken off at 40. With its first token the prompt has 21 to compute.
  SmallCluster recompute = one_and_one();
  recompute.split().abort_after = microseconds(10);
  recompute.run({request_at(0, 20, 3)});
  CHECK(recompute.times(0) == Times{30, 40 + 31 + 11});
  CHECK(recompute.totals().aborts == 1);
  CHECK(recompute.totals().handed_over == 0);
  CHECK(recompute.finished.at(0).prefill_replica == -1);

  SmallCluster from_decode = one_and_one();
  from_decode.split().abort_after = microseconds(10);
  from_decode.split().first_token_from_decode = true;
  from_decode.run({request_at(0, 20, 3)});
  CHECK(from_decode.times(0) == Times{40 + 30, 40 + 30 + 2 * 11});
  CHECK(from_decode.totals().discarded_tokens == 1);

  SmallCluster lose = one_and_one();
  lose.split().abort_after = microseconds(10);
  lose.split().on_abort = Split::OnAbort::lose;
  lose.run({request_at(0, 20, 3)});
  CHECK(lose.finished.empty());
  CHECK(lose.rejected.at(0) ==
        std::pair<std::int64_t, std::string>{40, "nobody fetched its KV cache in time"});
  CHECK(lose.totals().lost == 1);
  CHECK(lose.totals().lost_tokens == 1);

  SmallCluster in_time = one_and_one();
  in_time.split().abort_after = microseconds(21);
  in_time.run({request_at(0, 20, 3)});
  CHECK(in_time.totals().aborts == 0);
}

TEST_CASE("blocks of a prompt are held at the prefill replica until its KV is read") {
  // 3 of 4 blocks until 40 + 30: the next prompt needs 2.
  SmallCluster cluster = one_and_one();
  cluster.pools.front().engine.blocks = 4;
  cluster.pools.front().engine.max_model_len = 40;
  cluster.run({request_at(0, 30, 3), request_at(1, 20, 3)});
  CHECK(cluster.times(0) == Times{40, 40 + 30 + 2 * 11});
  CHECK(cluster.admitted(1) == 70);
  CHECK(cluster.times(1).first == 100);
}

TEST_CASE("decode first holds a prompt back until the decode replica has blocks for it") {
  // 4 blocks there. The first request needs 3 of them and later the last: the second waits for its end.
  for (const bool decode_first : {true, false}) {
    SmallCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 1)});
    cluster.pools.back().engine.blocks = 4;
    cluster.pools.back().engine.max_model_len = 40;
    cluster.split().transfer = Split::Transfer::push;
    cluster.split().decode_first = decode_first;
    cluster.run({request_at(0, 30, 5), request_at(0, 20, 2)});
    CHECK(cluster.times(0) == Times{decode_first ? 40 : 60, (decode_first ? 40 : 60) + 4 * 11});
    CHECK(cluster.admitted(1) == (decode_first ? 84 : 0));
    CHECK(cluster.times(1) == (decode_first ? Times{114, 125} : Times{60, 104 + 11}));
  }
}

TEST_CASE("a computed prompt gets the blocks that are held for one which waits for those it holds") {
  // 4 blocks on each. The first prompt goes by chunks of 20, so that the second one, of 20, is done before
  // it, at 10 + 40, and then holds half of the blocks there; the first needs 3, holds 3 where it is to
  // decode, and loses them. It begins anew at 50 + 20: chunks of 30 and 20 microseconds, 30 on the link, a
  // token.
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    SmallCluster cluster = one_and_one();
    cluster.split().transfer = Split::Transfer::push;
    cluster.pools.front().engine.keys =
        "enable_prefix_caching: false, max_num_batched_tokens: 1000, long_prefill_token_threshold: 20";
    for (SmallPool& pool : cluster.pools) {
      pool.engine.blocks = 4;
      pool.engine.max_model_len = 40;
    }
    cluster.run({request_at(0, 30, 2), request_at(0, 20, 2)}, stepper);
    CHECK(cluster.times(1) == Times{50, 50 + 20 + 11});
    CHECK(cluster.times(0) == Times{70 + 30 + 20, 120 + 30 + 11});
    CHECK(cluster.finished.at(0).preemptions == 1);
    CHECK((cluster.totals().transferred == Bytes(50'000)));
  }
}

TEST_CASE("a step that ends when a prompt is handed over counts as a load of tokens") {
  // The first decodes from 32 on, the second from 67 on, a token every 11. When the third prompt is done, at
  // 87, they have 22 + 1 + 5 and 25 + 1 + 1 tokens.
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    SmallCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 2)});
    cluster.pools.back().router = "least_tokens";
    cluster.run({request_at(0, 22, 20), request_at(32, 25, 20), request_at(67, 10, 2)}, stepper);
    CHECK(cluster.times(2).first == 87);
    CHECK(cluster.replica(0) == 1);
    CHECK(cluster.replica(1) == 2);
    CHECK(cluster.replica(2) == 2);
  }
}

TEST_CASE("who has KV waits for a seat and who has none for blocks") {
  // One sequence at a time: the second gets blocks at 61, when a step ends, has its KV at 81, and its seat
  // when the first is done, at 50 + 4 * 11.
  SmallCluster cluster = one_and_one();
  cluster.pools.back().engine.max_num_seqs = 1;
  cluster.pools.front().engine.max_num_seqs = 1;
  cluster.run({request_at(0, 20, 5), request_at(0, 20, 2)});
  CHECK(cluster.times(0) == Times{30, 50 + 4 * 11});
  CHECK((cluster.finished.at(1).handover == microseconds(21)));
  CHECK(cluster.times(1) == Times{60, 94 + 11});
}

TEST_CASE("an arrival that overtakes an older one lets KV come for who was behind that one") {
  // One seat, where the first decodes from 20 to 20 + 19 * 11. The second waits for it, and at 42 the third,
  // whose prompt is computed at 35, stands back for the second; from 50 on the fourth is ahead of that one,
  // and at 53 the third gets blocks: its KV comes until 73. It has the next seat, then the fourth.
  for (const char* policy : {"shortest_job_first", "priority"}) {
    for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
      CAPTURE(policy, to_string(stepper));
      SmallCluster cluster = one_and_one();
      cluster.split().local_prefill = Split::LocalPrefill::short_prompt;
      cluster.split().max_local_prefill_tokens = 10;
      cluster.pools.back().engine.policy = policy;
      cluster.pools.back().engine.max_num_seqs = 1;
      std::vector<TestRequest> requests = {request_at(0, 10, 20), request_at(5, 10, 30), request_at(5, 20, 2),
                                           request_at(50, 10, 2)};
      requests[1].priority = 1;
      cluster.run(requests, stepper);
      CHECK(cluster.times(0) == Times{20, 229});
      CHECK((cluster.finished.at(2).handover == microseconds(73 - 35)));
      CHECK(cluster.times(2) == Times{35, 229 + 11});
      CHECK(cluster.times(3) == Times{240 + 20, 260 + 11});
      CHECK(cluster.times(1) == Times{271 + 20, 291 + 29 * 11});
    }
  }
}

TEST_CASE("a prompt that waits for blocks finds what chunks of another one have cached since") {
  // 5 blocks; the first prompt, of 40, runs by chunks of 5, one in 15 microseconds. At 75 it has computed 25
  // and holds 3 blocks; the second, of 45, needs 3 besides the 2 full ones. At 90 it needs 2 and gets them:
  // 15 tokens come until 105, and a token until 116. The first has lost its turn, and then runs the 10 that
  // it does not find cached.
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    CAPTURE(to_string(stepper));
    SmallCluster cluster = one_and_one();
    cluster.split().local_prefill = Split::LocalPrefill::short_prompt;
    cluster.split().max_local_prefill_tokens = 40;
    EngineSetup& engine = cluster.pools.back().engine;
    engine.keys = "max_num_batched_tokens: 1000, long_prefill_token_threshold: 5";
    engine.blocks = 5;
    engine.max_model_len = 50;
    engine.max_num_seqs = 1;
    std::vector<TestRequest> requests = {request_at(0, 40, 2), request_at(10, 45, 2)};
    requests[0].content = {{1, 40}};
    requests[1].content = {{1, 40}, {2, 5}};
    cluster.run(requests, stepper);
    CHECK((cluster.finished.at(1).handover == microseconds(105 - 65)));
    CHECK(cluster.times(1) == Times{65, 116});
    CHECK(cluster.times(0) == Times{116 + 2 * 15, 146 + 11});
    CHECK(cluster.finished.at(0).preemptions == 1);
  }
}

TEST_CASE("two transfers at once take twice as long") {
  SmallCluster cluster = one_and_one();
  cluster.run({request_at(0, 20, 2), request_at(0, 20, 2)});
  // Both prefills in one step of 50 microseconds, then 20 + 20 on the link, and a step of two tokens.
  CHECK(cluster.times(0) == Times{50, 90 + 12});
  CHECK(cluster.times(1) == Times{50, 90 + 12});
}

}  // namespace
}  // namespace inferometer::testing
