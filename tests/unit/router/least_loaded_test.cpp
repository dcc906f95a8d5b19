#include <algorithm>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

std::int32_t chosen_by(const std::string& policy, const PoolOfNumbers& pool) {
  return make_router("policy: " + policy)->choose(request_of(-1), pool.view());
}

/// Replica 1 has the fewest requests, replica 2 the fewest tokens.
PoolOfNumbers uneven_pool() {
  PoolOfNumbers pool(4);
  pool.set_load(0, 3, 5000);
  pool.set_load(1, 1, 9000);
  pool.set_load(2, 4, 400);
  pool.set_load(3, 2, 8000);
  return pool;
}

}  // namespace

TEST_CASE("least outstanding counts requests and least tokens tokens") {
  const PoolOfNumbers pool = uneven_pool();
  CHECK(chosen_by("least_outstanding", pool) == 1);
  CHECK(chosen_by("least_tokens", pool) == 2);
}

TEST_CASE("the least loaded is sought among candidates alone") {
  PoolOfNumbers pool = uneven_pool();
  pool.set_candidates({0, 3});
  CHECK(chosen_by("least_outstanding", pool) == 3);
  CHECK(chosen_by("least_tokens", pool) == 0);
  pool.set_candidates({0, 1, 2, 3});  // those that were away are back
  CHECK(chosen_by("least_outstanding", pool) == 1);
  CHECK(chosen_by("least_tokens", pool) == 2);
}

TEST_CASE("of equally loaded replicas the lowest number is chosen") {
  PoolOfNumbers pool(5);
  pool.set_load(0, 2, 20);
  pool.set_load(1, 1, 10);
  pool.set_load(2, 2, 20);
  pool.set_load(3, 1, 10);
  pool.set_load(4, 1, 10);
  for (const std::string policy : {"least_outstanding", "least_tokens"}) {
    CHECK(chosen_by(policy, pool) == 1);
    CHECK(chosen_by(policy, PoolOfNumbers(3)) == 0);
  }
}

TEST_CASE("the only candidate gets the request however loaded it is") {
  PoolOfNumbers pool(3);
  pool.set_load(2, 1000, 1'000'000);
  pool.set_candidates({2});
  for (const std::string& policy : builtin_routers().names()) {
    CHECK(chosen_by(policy, pool) == 2);
    CHECK(make_router("policy: " + policy)->choose(request_of(7), pool.view()) == 2);
  }
}

TEST_CASE("the least loaded of a thousand replicas is found") {
  PoolOfNumbers pool(1000);
  for (std::int32_t replica = 0; replica < 1000; ++replica) {
    pool.set_load(replica, 5, 500);
  }
  pool.set_load(617, 4, 500);
  pool.set_load(998, 5, 499);
  CHECK(chosen_by("least_outstanding", pool) == 617);
  CHECK(chosen_by("least_tokens", pool) == 998);
}

TEST_CASE("least tokens finds the least whatever bounds it has of the others") {
  // Few different loads, so that many are equal, and bounds anywhere from 0 to them.
  RandomStream random(1, "bounds");
  for (int round = 0; round < 500; ++round) {
    PoolOfNumbers pool(9);
    std::vector<std::uint64_t> tokens(9);
    for (std::int32_t replica = 0; replica < 9; ++replica) {
      std::uint64_t& own = tokens[static_cast<std::size_t>(replica)];
      own = random.below(6);
      pool.set_load(replica, 1, static_cast<std::int64_t>(own));
      pool.set_bound(replica, static_cast<std::int64_t>(random.below(own + 1)));
    }
    CHECK(chosen_by("least_tokens", pool) == std::min_element(tokens.begin(), tokens.end()) - tokens.begin());
  }
}

TEST_CASE("requests of ten sizes that never leave end up evenly spread") {
  // Each request goes to where the fewest tokens are, so that no replica ever leads the emptiest one by more
  // than the largest request.
  PoolOfNumbers pool(7);
  const auto router = make_router("policy: least_tokens");
  std::vector<std::int64_t> tokens(7);
  for (std::int64_t i = 0; i < 700; ++i) {
    const std::int32_t replica = router->choose(request_of(-1), pool.view());
    std::int64_t& own = tokens[static_cast<std::size_t>(replica)];
    own += 100 * (1 + i * 7 % 10);
    pool.set_load(replica, 1, own);
    const auto [least, most] = std::minmax_element(tokens.begin(), tokens.end());
    REQUIRE(*most - *least <= 1000);
  }
}
