#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

using Replicas = std::vector<std::int32_t>;

namespace {

constexpr std::int64_t kSessions = 10'000;

/// Where each of the sessions 0 to kSessions - 1 goes.
Replicas homes_of(Router& router, const PoolOfNumbers& pool) {
  Replicas homes;
  for (std::int64_t session = 0; session < kSessions; ++session) {
    homes.push_back(router.choose(request_of(session), pool.view()));
  }
  return homes;
}

Replicas all_but(std::int32_t left_out, std::int32_t count) {
  Replicas replicas;
  for (std::int32_t replica = 0; replica < count; ++replica) {
    if (replica != left_out) {
      replicas.push_back(replica);
    }
  }
  return replicas;
}

}  // namespace

TEST_CASE("a session stays with its replica whatever the loads") {
  PoolOfNumbers pool(8);
  const auto router = make_router("policy: session_affinity");
  const Replicas homes = homes_of(*router, pool);
  for (std::int32_t replica = 0; replica < 8; ++replica) {
    pool.set_load(replica, 100 - replica, 1000 * replica);
  }
  CHECK(homes_of(*router, pool) == homes);
}

TEST_CASE("sessions spread evenly over replicas") {
  const PoolOfNumbers pool(8);
  const Replicas homes = homes_of(*make_router("policy: session_affinity"), pool);
  CHECK(chi_square(counts_of(homes, 8), std::vector<double>(8, kSessions / 8.0)) < chi_square_limit(7));
}

TEST_CASE("sessions far apart in number spread evenly as well") {
  // Numbers of sessions are whatever a trace says: multiples of a power of two, or hashes.
  const PoolOfNumbers pool(8);
  const auto router = make_router("policy: session_affinity");
  Replicas homes;
  for (std::int64_t i = 0; i < kSessions; ++i) {
    homes.push_back(router->choose(request_of(i << 40), pool.view()));
  }
  CHECK(chi_square(counts_of(homes, 8), std::vector<double>(8, kSessions / 8.0)) < chi_square_limit(7));
}

TEST_CASE("a lost replica moves its own sessions and no others") {
  PoolOfNumbers pool(8);
  const auto router = make_router("policy: session_affinity");
  const Replicas before = homes_of(*router, pool);
  pool.set_candidates(all_but(3, 8));
  const Replicas without = homes_of(*router, pool);
  Replicas moved_to;
  for (std::size_t session = 0; session < before.size(); ++session) {
    if (before[session] == 3) {
      moved_to.push_back(without[session]);
    } else {
      REQUIRE(without[session] == before[session]);
    }
  }
  // The others share them evenly.
  std::vector<double> gained = counts_of(moved_to, 8);
  CHECK(gained[3] == 0);
  gained.erase(gained.begin() + 3);
  const double share = static_cast<double>(moved_to.size()) / 7;
  CHECK(chi_square(gained, std::vector<double>(7, share)) < chi_square_limit(6));

  pool.set_candidates({0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(homes_of(*router, pool) == before);
}

TEST_CASE("a new replica takes sessions for itself and moves none between the others") {
  PoolOfNumbers pool(9);
  const auto router = make_router("policy: session_affinity");
  pool.set_candidates(all_but(8, 9));
  const Replicas before = homes_of(*router, pool);
  pool.set_candidates({0, 1, 2, 3, 4, 5, 6, 7, 8});
  const Replicas after = homes_of(*router, pool);
  double moved = 0;
  for (std::size_t session = 0; session < before.size(); ++session) {
    if (after[session] != before[session]) {
      REQUIRE(after[session] == 8);
      moved += 1;
    }
  }
  // A ninth of all: a binomial variable, four standard deviations around its mean.
  CHECK(std::abs(moved - kSessions / 9.0) < 4 * std::sqrt(kSessions * (1.0 / 9) * (8.0 / 9)));
}

TEST_CASE("requests without a session go to the replica with the fewest outstanding") {
  PoolOfNumbers pool(4);
  pool.set_load(0, 5, 1);
  pool.set_load(1, 2, 900);
  pool.set_load(2, 2, 100);
  pool.set_load(3, 7, 1);
  const auto router = make_router("policy: session_affinity");
  CHECK(router->choose(request_of(-1), pool.view()) == 1);
  pool.set_candidates({0, 3});
  CHECK(router->choose(request_of(-1), pool.view()) == 0);
}

TEST_CASE("homes of sessions depend on seed and path alone") {
  const PoolOfNumbers pool(8);
  const Replicas homes = homes_of(*make_router("policy: session_affinity", 5, "router/mixed"), pool);
  CHECK(homes_of(*make_router("policy: session_affinity", 5, "router/mixed"), pool) == homes);
  CHECK(homes_of(*make_router("policy: session_affinity", 6, "router/mixed"), pool) != homes);
  CHECK(homes_of(*make_router("policy: session_affinity", 5, "router/decode"), pool) != homes);
}

TEST_CASE("sessions reach a thousand replicas") {
  const PoolOfNumbers pool(1000);
  const Replicas homes = homes_of(*make_router("policy: session_affinity"), pool);
  CHECK(chi_square(counts_of(homes, 1000), std::vector<double>(1000, kSessions / 1000.0)) <
        chi_square_limit(999));
}
