#include <algorithm>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

using Replicas = std::vector<std::int32_t>;

TEST_CASE("of two replicas power of two takes the less loaded") {
  // Both are drawn each time, in either order.
  PoolOfNumbers pool(2);
  pool.set_load(0, 1, 9000);
  pool.set_load(1, 5, 100);
  CHECK(choices(*make_router("policy: power_of_two"), pool, 50) == Replicas(50, 1));
  CHECK(choices(*make_router("{policy: power_of_two, load: tokens}"), pool, 50) == Replicas(50, 1));
  CHECK(choices(*make_router("{policy: power_of_two, load: requests}"), pool, 50) == Replicas(50, 0));
}

TEST_CASE("power of two chooses every replica as often when all are equal") {
  constexpr std::size_t kRequests = 20'000;
  for (const std::string load : {"tokens", "requests"}) {
    PoolOfNumbers pool(10);
    for (std::int32_t replica = 0; replica < 10; ++replica) {
      pool.set_load(replica, 3, 700);
    }
    const auto chosen = choices(*make_router("{policy: power_of_two, load: " + load + "}"), pool, kRequests);
    CHECK(chi_square(counts_of(chosen, 10), std::vector<double>(10, kRequests / 10.0)) < chi_square_limit(9));
  }
}

TEST_CASE("of two equally loaded replicas power of two takes the one drawn first") {
  const PoolOfNumbers pool(10);
  const auto router = make_router("policy: power_of_two", 3, "router");
  RandomStream same(3, "router");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t first = same.below(10);
    same.below(9);  // the second of the others
    REQUIRE(router->choose(request_of(-1), pool.view()) == static_cast<std::int32_t>(first));
  }
}

TEST_CASE("power of two draws two different replicas, any two as often") {
  // Of n replicas with different loads the one that k others exceed is chosen when it is drawn with one of
  // them: in k of the n (n - 1) / 2 pairs. The most loaded never is.
  constexpr std::size_t kReplicas = 6;
  constexpr std::size_t kRequests = 30'000;
  PoolOfNumbers pool(kReplicas);
  const Replicas rank{2, 5, 0, 1, 4, 3};  // how many are less loaded
  std::vector<double> expected;
  for (std::int32_t replica = 0; replica < 6; ++replica) {
    const std::int32_t less = rank[static_cast<std::size_t>(replica)];
    pool.set_load(replica, 0, 10 + less);
    expected.push_back(kRequests * (5.0 - less) / 15.0);
  }
  std::vector<double> counts = counts_of(choices(*make_router("policy: power_of_two"), pool, kRequests), 6);
  CHECK(counts[1] == 0);
  counts.erase(counts.begin() + 1);
  expected.erase(expected.begin() + 1);
  CHECK(chi_square(counts, expected) < chi_square_limit(4));
}

TEST_CASE("power of two chooses among the candidates of the moment") {
  PoolOfNumbers pool(5);
  pool.set_load(0, 0, 0);
  for (std::int32_t replica = 1; replica < 5; ++replica) {
    pool.set_load(replica, 1, 10 * replica);
  }
  const auto router = make_router("policy: power_of_two");
  pool.set_candidates({2, 4});
  CHECK(choices(*router, pool, 50) == Replicas(50, 2));
  pool.set_candidates({4});
  CHECK(choices(*router, pool, 3) == Replicas(3, 4));
  pool.set_candidates({0, 1, 2, 3, 4});
  const std::vector<double> counts = counts_of(choices(*router, pool, 1000), 5);
  CHECK(counts[0] > 0);
  CHECK(counts[4] == 0);
}

TEST_CASE("two choices keep a thousand replicas much evener than one") {
  // 100 000 requests that stay: the fullest of n replicas exceeds the average by about log2(log2(n)) with two
  // choices, whatever the number of requests (Berenbrink et al., STOC 2000), and by about sqrt(2 m/n ln n) =
  // 37 with one.
  const auto lead_of = [](const std::string& policy) {
    PoolOfNumbers pool(1000);
    std::vector<std::int64_t> requests(1000);
    const auto router = make_router(policy);
    for (int i = 0; i < 100'000; ++i) {
      const std::int32_t replica = router->choose(request_of(-1), pool.view());
      std::int64_t& own = requests[static_cast<std::size_t>(replica)];
      own += 1;
      pool.set_load(replica, own, own);
    }
    return *std::max_element(requests.begin(), requests.end()) - 100;
  };
  CHECK(lead_of("{policy: power_of_two, load: requests}") <= 5);
  CHECK(lead_of("policy: random") >= 20);
}
