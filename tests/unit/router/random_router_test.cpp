#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

constexpr std::size_t kRequests = 20'000;

}  // namespace

TEST_CASE("random chooses every replica as often, whatever its load") {
  PoolOfNumbers pool(10);
  pool.set_load(3, 1000, 1'000'000);
  const auto chosen = choices(*make_router("policy: random"), pool, kRequests);
  CHECK(chi_square(counts_of(chosen, 10), std::vector<double>(10, kRequests / 10.0)) < chi_square_limit(9));
}

TEST_CASE("random forgets what it chose before") {
  // All pairs of successive choices, which a router that takes turns would not have.
  const PoolOfNumbers pool(5);
  const auto chosen = choices(*make_router("policy: random"), pool, 2 * kRequests);
  std::vector<double> pairs(25);
  for (std::size_t i = 0; i < chosen.size(); i += 2) {
    pairs[static_cast<std::size_t>(5 * chosen[i] + chosen[i + 1])] += 1;
  }
  CHECK(chi_square(pairs, std::vector<double>(25, kRequests / 25.0)) < chi_square_limit(24));
}

TEST_CASE("random chooses among the candidates of the moment") {
  PoolOfNumbers pool(6);
  const auto router = make_router("policy: random");
  pool.set_candidates({1, 4});
  const std::vector<double> away = counts_of(choices(*router, pool, 1000), 6);
  CHECK(away[1] + away[4] == 1000);
  CHECK(chi_square({away[1], away[4]}, {500, 500}) < 10.83);  // of one degree of freedom, once in a thousand
  pool.set_candidates({0, 1, 2, 3, 4, 5});
  const std::vector<double> back = counts_of(choices(*router, pool, 6000), 6);
  CHECK(chi_square(back, std::vector<double>(6, 1000.0)) < chi_square_limit(5));
}

TEST_CASE("routers that draw choose alike for the same seed and path, and otherwise not") {
  const PoolOfNumbers pool(10);
  for (const std::string policy : {"policy: random", "policy: power_of_two"}) {
    const auto first = choices(*make_router(policy, 5, "router/mixed"), pool, 100);
    CHECK(choices(*make_router(policy, 5, "router/mixed"), pool, 100) == first);
    CHECK(choices(*make_router(policy, 6, "router/mixed"), pool, 100) != first);
    CHECK(choices(*make_router(policy, 5, "router/decode"), pool, 100) != first);
  }
}

TEST_CASE("random reaches all of a thousand replicas") {
  const PoolOfNumbers pool(1000);
  const auto chosen = choices(*make_router("policy: random"), pool, 100'000);
  CHECK(chi_square(counts_of(chosen, 1000), std::vector<double>(1000, 100.0)) < chi_square_limit(999));
}
