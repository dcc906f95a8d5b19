#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

void set_requests(PoolOfNumbers& pool, const std::vector<std::int64_t>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    pool.set_load(static_cast<std::int32_t>(i), requests[i], 0);
  }
}

/// Sends it to that replica, which alone takes requests meanwhile.
void send(Router& router, PoolOfNumbers& pool, std::int32_t replica, const Request& request) {
  const std::vector<std::int32_t> candidates = pool.candidates();
  pool.set_candidates({replica});
  REQUIRE(router.choose(request, pool.view()) == replica);
  pool.set_candidates(candidates);
}

}  // namespace

TEST_CASE("cache aware follows a prompt when more than the threshold was seen there") {
  // Of 100 tokens, 50 or 51 are known at replica 2; replica 0 has least to do.
  for (const std::int64_t known : {50, 51}) {
    PoolOfNumbers pool(3);
    set_requests(pool, {1, 2, 5});
    const auto router = make_router("{policy: cache_aware, cache_threshold: 0.5}");
    send(*router, pool, 2, prompt_of({{7, known}}));
    CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == (known > 50 ? 2 : 0));
  }
}

TEST_CASE("the cache aware threshold is that of the command line") {
  for (const std::int64_t known : {30, 31}) {
    PoolOfNumbers pool(2);
    set_requests(pool, {0, 5});
    const auto router = make_router("policy: cache_aware");
    send(*router, pool, 1, prompt_of({{7, known}}));
    CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == (known > 30 ? 1 : 0));
  }
}

TEST_CASE("cache aware looks at loads alone when they differ by both limits") {
  // The prompt is known at replica 0. Uneven: most - least > 32 and most > 1.1 x least.
  const std::vector<std::pair<std::vector<std::int64_t>, std::int32_t>> cases{
      {{40, 8}, 0},     // 32 more: even
      {{41, 8}, 1},     // 33 more
      {{400, 364}, 0},  // 36 more, but 400 is less than 400.4
      {{401, 364}, 1},  // more than that
      {{33, 0}, 1},
  };
  for (const auto& [requests, expected] : cases) {
    PoolOfNumbers pool(2);
    const auto router =
        make_router("{policy: cache_aware, balance_abs_threshold: 32, balance_rel_threshold: 1.1}");
    send(*router, pool, 0, prompt_of({{7, 100}}));
    set_requests(pool, requests);
    INFO(requests.front());
    CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == expected);
  }
}

TEST_CASE("cache aware remembers what it sent away from a crowded replica") {
  PoolOfNumbers pool(2);
  const auto router = make_router("policy: cache_aware");
  send(*router, pool, 0, prompt_of({{7, 100}}));
  set_requests(pool, {100, 0});
  CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == 1);
  set_requests(pool, {3, 4});  // even again: both know it, and replica 0 has less to do
  CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == 0);
  set_requests(pool, {4, 3});
  CHECK(router->choose(prompt_of({{7, 100}}), pool.view()) == 1);
}

TEST_CASE("cache aware prefers the longest match to the smallest load") {
  PoolOfNumbers pool(3);
  set_requests(pool, {0, 2, 9});
  const auto router = make_router("policy: cache_aware");
  send(*router, pool, 1, prompt_of({{7, 60}}));
  send(*router, pool, 2, prompt_of({{7, 60}, {8, 10}}));
  CHECK(router->choose(prompt_of({{7, 60}, {8, 40}}), pool.view()) == 2);
  CHECK(router->choose(prompt_of({{7, 60}, {9, 40}}), pool.view()) == 1);
}

TEST_CASE("cache aware gives what nobody knows to the replica with the least remembered") {
  PoolOfNumbers pool(3);
  set_requests(pool, {0, 1, 1});
  const auto router = make_router("{policy: cache_aware, below_threshold: smallest_tree}");
  send(*router, pool, 0, prompt_of({{1, 50}}));
  send(*router, pool, 1, lone_prompt(40, 5));
  CHECK(router->choose(prompt_of({{2, 50}}), pool.view()) == 2);
  CHECK(router->choose(lone_prompt(50, 6), pool.view()) == 1);  // 50, 40, 50
  CHECK(router->choose(lone_prompt(50, 7), pool.view()) == 0);  // 50, 90, 50
}

TEST_CASE("cache aware forgets what was used longest ago beyond the size of its tree") {
  PoolOfNumbers pool(2);
  set_requests(pool, {1, 5});
  const auto router = make_router("{policy: cache_aware, max_tree_size: 100}");
  send(*router, pool, 1, prompt_of({{7, 60}}));
  send(*router, pool, 1, prompt_of({{8, 81}}));  // 19 of the first remain
  CHECK(router->choose(prompt_of({{7, 60}}), pool.view()) == 1);
  send(*router, pool, 1, prompt_of({{9, 82}}));  // 18, which is 30 % of 60
  CHECK(router->choose(prompt_of({{8, 60}}), pool.view()) == 0);
}

TEST_CASE("cache aware forgets a replica that was away and ignores one that is") {
  PoolOfNumbers pool(3);
  set_requests(pool, {1, 3, 5});
  const auto router = make_router("policy: cache_aware");
  send(*router, pool, 2, prompt_of({{7, 60}}));
  pool.set_candidates({0, 1});
  CHECK(router->choose(prompt_of({{7, 40}}), pool.view()) == 0);
  router->forget(0);
  router->forget(1);
  pool.set_candidates({0, 1, 2});
  CHECK(router->choose(prompt_of({{7, 60}}), pool.view()) == 2);
  router->forget(2);
  CHECK(router->choose(prompt_of({{7, 60}}), pool.view()) == 0);
}
