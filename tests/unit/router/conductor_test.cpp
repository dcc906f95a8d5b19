#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

void set_waiting(PoolOfNumbers& pool, std::int32_t replica, std::int64_t prefill, std::int64_t requests) {
  pool.set_load(
      replica,
      ReplicaLoad{
          .outstanding = requests, .waiting = requests, .tokens = 10 * prefill, .prefill_tokens = prefill});
}

std::int32_t chosen(const PoolOfNumbers& pool) {
  return make_router("policy: conductor")->choose(prompt_of({{7, 100}}), pool.view());
}

}  // namespace

TEST_CASE("the conductor sends a prompt where fewest tokens come before its first") {
  // 100 tokens of its own: 100 + 20 there against 400 + 100 - 80 and 60 + 100 - 10.
  PoolOfNumbers pool(3);
  set_waiting(pool, 0, 20, 1);
  set_waiting(pool, 1, 400, 1);
  pool.set_cached(1, 80);
  set_waiting(pool, 2, 60, 1);
  pool.set_cached(2, 10);
  CHECK(chosen(pool) == 0);
  pool.set_cached(2, 41);
  CHECK(chosen(pool) == 2);
  set_waiting(pool, 1, 98, 1);  // 118 against 119
  CHECK(chosen(pool) == 1);
}

TEST_CASE("the conductor breaks ties by requests and then by number") {
  PoolOfNumbers pool(3);
  set_waiting(pool, 0, 20, 3);
  set_waiting(pool, 1, 70, 2);
  pool.set_cached(1, 50);
  set_waiting(pool, 2, 20, 2);
  CHECK(chosen(pool) == 1);
  set_waiting(pool, 2, 20, 1);
  CHECK(chosen(pool) == 2);
}
