#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

/// Of 1000 tokens of KV that it can hold, `held` are computed; `waiting` requests have 100 more each to run.
void set_state(PoolOfNumbers& pool, std::int32_t replica, std::int64_t waiting, std::int64_t held) {
  pool.set_load(replica, ReplicaLoad{.outstanding = waiting + 1,
                                     .waiting = waiting,
                                     .tokens = held + 100 * waiting,
                                     .prefill_tokens = 100 * waiting,
                                     .kv_capacity = 1000});
}

std::int32_t chosen(const std::string& keys, const PoolOfNumbers& pool) {
  return make_router("{policy: prefix_scorer" + keys + "}")->choose(prompt_of({{7, 160}}), pool.view());
}

/// Sends it to that replica, which alone takes requests meanwhile.
void send(Router& router, PoolOfNumbers& pool, std::int32_t replica, const Request& request) {
  const std::vector<std::int32_t> candidates = pool.candidates();
  pool.set_candidates({replica});
  REQUIRE(router.choose(request, pool.view()) == replica);
  pool.set_candidates(candidates);
}

/// Whether a replica with a queue of 4 and 400 tokens of KV, where `sent` was sent before, gets `request`
/// when the other has nothing to do: 2 x 0.6 + 3 x prefix against 2 + 2.
bool is_followed(const std::string& keys, const std::vector<Request>& sent, const Request& request) {
  PoolOfNumbers pool(2);
  set_state(pool, 0, 0, 0);
  set_state(pool, 1, 4, 400);
  const auto router = make_router("{policy: prefix_scorer" + keys + "}");
  for (const Request& one : sent) {
    send(*router, pool, 1, one);
  }
  return router->choose(request, pool.view()) == 1;
}

}  // namespace

TEST_CASE("the scorer adds a short queue and room for KV by their weights") {
  PoolOfNumbers pool(3);
  set_state(pool, 0, 4, 100);                  // queue 0, room 0.9
  set_state(pool, 1, 0, 900);                  // queue 1, room 0.1
  set_state(pool, 2, 1, 400);                  // queue 3/4, room 0.6
  CHECK(chosen("", pool) == 2);                // 1.8, 2.2 and 2.7
  CHECK(chosen(", kv_weight: 0", pool) == 1);  // 0, 2 and 1.5
  CHECK(chosen(", queue_weight: 0", pool) == 0);
  CHECK(chosen(", queue_weight: 5", pool) == 1);  // 1.8, 5.2 and 4.95
}

TEST_CASE("equal queues score nobody") {
  PoolOfNumbers pool(2);
  set_state(pool, 0, 3, 500);
  set_state(pool, 1, 3, 499);
  CHECK(chosen("", pool) == 1);
  set_state(pool, 0, 3, 498);
  CHECK(chosen("", pool) == 0);
}

TEST_CASE("a cache that is more than full scores as full") {
  // Prompts that share tokens may have more of them than fit: 0 + 0 against 0 + 0, and the prefix decides.
  PoolOfNumbers pool(2);
  set_state(pool, 0, 0, 1000);
  set_state(pool, 1, 0, 5000);
  const auto router = make_router("policy: prefix_scorer");
  send(*router, pool, 1, prompt_of({{7, 16}}));
  CHECK(router->choose(prompt_of({{7, 16}, {8, 144}}), pool.view()) == 1);
}

TEST_CASE("the scorer weighs the share of whole blocks that were sent before") {
  const std::vector<Request> sent{prompt_of({{7, 100}})};            // 6 blocks of 16 tokens
  CHECK(is_followed("", sent, prompt_of({{7, 96}})));                // 3 x 6/6
  CHECK(is_followed("", sent, prompt_of({{7, 96}, {8, 15}})));       // and no whole block more
  CHECK_FALSE(is_followed("", sent, prompt_of({{7, 112}})));         // 3 x 6/7 = 2.57
  CHECK_FALSE(is_followed("", sent, prompt_of({{7, 95}, {8, 1}})));  // 3 x 5/6
  CHECK_FALSE(is_followed("", sent, prompt_of({{7, 15}})));          // no block at all
  CHECK_FALSE(is_followed(", prefix_weight: 2", sent, prompt_of({{7, 96}})));
  CHECK_FALSE(is_followed(", router_block_size: 48", {prompt_of({{7, 95}})}, prompt_of({{7, 96}})));
  CHECK(is_followed(", router_block_size: 48", {prompt_of({{7, 96}})}, prompt_of({{7, 96}})));
}

TEST_CASE("the scorer looks at the first blocks of a prompt alone") {
  const std::vector<Request> sent{prompt_of({{7, 64}})};
  CHECK_FALSE(is_followed("", sent, prompt_of({{7, 160}})));
  CHECK(is_followed(", max_prefix_blocks: 4", sent, prompt_of({{7, 160}})));
  CHECK_FALSE(is_followed(", max_prefix_blocks: 5", sent, prompt_of({{7, 160}})));
  // Nor does it remember more of one.
  CHECK_FALSE(is_followed(", max_prefix_blocks: 4, capacity_per_replica: 7",
                          {prompt_of({{7, 64}}), prompt_of({{8, 160}})}, prompt_of({{7, 64}})));
  CHECK(is_followed(", max_prefix_blocks: 4, capacity_per_replica: 8",
                    {prompt_of({{7, 64}}), prompt_of({{8, 160}})}, prompt_of({{7, 64}})));
}

TEST_CASE("the scorer forgets the blocks used longest ago") {
  const std::vector<Request> sent{prompt_of({{7, 96}}), prompt_of({{8, 16}})};
  CHECK(is_followed(", capacity_per_replica: 7", sent, prompt_of({{7, 96}})));
  CHECK_FALSE(is_followed(", capacity_per_replica: 6", sent, prompt_of({{7, 96}})));
}

TEST_CASE("of equal scores one is drawn") {
  constexpr std::size_t kRequests = 20'000;
  PoolOfNumbers pool(5);
  for (std::int32_t replica = 0; replica < 5; ++replica) {
    set_state(pool, replica, 2, replica == 3 ? 600 : 500);
  }
  std::vector<double> counts = counts_of(choices(*make_router("policy: prefix_scorer"), pool, kRequests), 5);
  CHECK(counts[3] == 0);
  counts.erase(counts.begin() + 3);
  CHECK(chi_square(counts, std::vector<double>(4, kRequests / 4.0)) < chi_square_limit(3));
}
