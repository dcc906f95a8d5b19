#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

using Replicas = std::vector<std::int32_t>;

TEST_CASE("round robin takes replicas in turn, whatever their load") {
  PoolOfNumbers pool(3);
  pool.set_load(0, 100, 100'000);
  const auto router = make_router("policy: round_robin");
  CHECK(choices(*router, pool, 7) == Replicas{0, 1, 2, 0, 1, 2, 0});
}

TEST_CASE("round robin begins at the first replica of its pool") {
  PoolOfNumbers pool(8);
  pool.set_candidates({4, 6, 7});
  const auto router = make_router("policy: round_robin");
  CHECK(choices(*router, pool, 4) == Replicas{4, 6, 7, 4});
}

TEST_CASE("round robin goes on after replicas that leave and return") {
  PoolOfNumbers pool(5);
  const auto router = make_router("policy: round_robin");
  CHECK(choices(*router, pool, 2) == Replicas{0, 1});
  pool.set_candidates({0, 1, 3, 4});  // the next one leaves
  CHECK(choices(*router, pool, 1) == Replicas{3});
  pool.set_candidates({0, 1, 4});  // the last one chosen leaves
  CHECK(choices(*router, pool, 1) == Replicas{4});
  pool.set_candidates({0, 1, 2, 3, 4});  // all are back: nobody has its turn twice
  CHECK(choices(*router, pool, 3) == Replicas{0, 1, 2});
  pool.set_candidates({0, 1});  // all that are higher leave
  CHECK(choices(*router, pool, 3) == Replicas{0, 1, 0});
  pool.set_candidates({3});
  CHECK(choices(*router, pool, 2) == Replicas{3, 3});
}

TEST_CASE("round robin among a thousand replicas gives each as many") {
  const PoolOfNumbers pool(1000);
  const auto router = make_router("policy: round_robin");
  CHECK(counts_of(choices(*router, pool, 3000), 1000) == std::vector<double>(1000, 3.0));
}
