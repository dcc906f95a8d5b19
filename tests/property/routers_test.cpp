// Whatever the replicas hold and whichever of them take requests: each router keeps what it promises.

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

constexpr std::uint64_t kPools = 200;
constexpr int kRequestsEach = 50;
constexpr std::size_t kReplicas = 12;

/// Loads within a narrow range, so that many are equal, and at least one candidate.
void shake(PoolOfNumbers& pool, Dice& dice) {
  std::vector<std::int32_t> candidates;
  for (std::size_t i = 0; i < kReplicas; ++i) {
    const auto replica = static_cast<std::int32_t>(i);
    const std::int64_t tokens = dice.between(0, 5) * 100;
    pool.set_load(replica, ReplicaLoad{.outstanding = dice.between(0, 4),
                                       .waiting = dice.between(0, 2),
                                       .tokens = tokens,
                                       .prefill_tokens = dice.between(0, tokens),
                                       .kv_capacity = 1000});
    pool.set_cached(replica, dice.between(0, 3) * 16);
    if (dice.chance(60)) {
      candidates.push_back(replica);
    }
  }
  if (candidates.empty()) {
    candidates.push_back(static_cast<std::int32_t>(dice.between(0, kReplicas - 1)));
  }
  pool.set_candidates(std::move(candidates));
}

/// Some without content, some that begin alike.
Request draw_request(Dice& dice, std::int64_t id) {
  const auto run = [&](std::int64_t ids) {
    return ContentRun{static_cast<std::uint64_t>(dice.between(1, ids)), dice.between(1, 60)};
  };
  Request request =
      dice.chance(30) ? lone_prompt(dice.between(1, 100), id) : prompt_of({run(3), run(3), run(1000)}, id);
  request.session = dice.chance(50) ? dice.between(0, 5) : -1;
  return request;
}

/// Runs `check` on what a router chooses in random pools, which change between requests.
void in_random_pools(
    const std::string& router_text,
    const std::function<void(const PoolOfNumbers&, std::int64_t session, std::int32_t chosen)>& check) {
  for (std::uint64_t seed = 1; seed <= kPools; ++seed) {
    Dice dice(seed, "pools");
    PoolOfNumbers pool(kReplicas);
    const auto router = make_router(router_text, seed);
    for (int i = 0; i < kRequestsEach; ++i) {
      shake(pool, dice);
      const Request request = draw_request(dice, i);
      if (dice.chance(5)) {
        router->forget(static_cast<std::int32_t>(dice.between(0, kReplicas - 1)));
      }
      const std::int32_t chosen = router->choose(request, pool.view());
      check(pool, request.session, chosen);
    }
  }
}

using LoadOf = std::function<std::int64_t(const PoolOfNumbers&, std::int32_t)>;

std::int64_t requests_of(const PoolOfNumbers& pool, std::int32_t replica) {
  return pool.load(replica).outstanding;
}

std::int64_t tokens_of(const PoolOfNumbers& pool, std::int32_t replica) {
  return pool.load(replica).tokens;
}

/// Nobody has less, and nobody of a lower number has as little.
void require_least(const PoolOfNumbers& pool, std::int32_t chosen, const LoadOf& load_of) {
  for (const std::int32_t other : pool.candidates()) {
    REQUIRE(load_of(pool, chosen) <= load_of(pool, other));
    REQUIRE((other >= chosen || load_of(pool, other) > load_of(pool, chosen)));
  }
}

}  // namespace

TEST_CASE("every router chooses a candidate") {
  for (const std::string& policy : builtin_routers().names()) {
    INFO(policy);
    in_random_pools("policy: " + policy, [](const PoolOfNumbers& pool, std::int64_t, std::int32_t chosen) {
      REQUIRE(std::binary_search(pool.candidates().begin(), pool.candidates().end(), chosen));
    });
  }
}

TEST_CASE("routers that follow prompts go by loads alone where no prompt is like another") {
  const auto in_pools_of_lone_prompts = [](const std::string& router_text, const LoadOf& load_of) {
    for (std::uint64_t seed = 1; seed <= kPools; ++seed) {
      Dice dice(seed, "pools");
      PoolOfNumbers pool(kReplicas);
      const auto router = make_router(router_text, seed);
      for (int i = 0; i < kRequestsEach; ++i) {
        shake(pool, dice);
        for (std::size_t replica = 0; replica < kReplicas; ++replica) {
          pool.set_cached(static_cast<std::int32_t>(replica), 0);
        }
        require_least(pool, router->choose(lone_prompt(dice.between(1, 100), i), pool.view()), load_of);
      }
    }
  };
  in_pools_of_lone_prompts("policy: cache_aware", requests_of);
  in_pools_of_lone_prompts("policy: conductor", [](const PoolOfNumbers& pool, std::int32_t replica) {
    constexpr std::int64_t kMoreThanRequests = 100;  // which break ties
    return pool.load(replica).prefill_tokens * kMoreThanRequests + pool.load(replica).outstanding;
  });
}

TEST_CASE("routers that follow prompts decide the same for the same seed") {
  for (const std::string policy : {"cache_aware", "kv_aware", "prefix_scorer", "conductor",
                                   "kv_aware, temperature: 1", "kv_aware, predicted_ttl: 1 s"}) {
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> second;
    for (std::vector<std::int32_t>* const chosen_of : {&first, &second}) {
      in_random_pools("{policy: " + policy + "}", [&](const PoolOfNumbers&, std::int64_t,
                                                      std::int32_t chosen) { chosen_of->push_back(chosen); });
    }
    CHECK(first == second);
  }
}

TEST_CASE("least loaded routers never choose a replica with more than another") {
  in_random_pools("policy: least_outstanding",
                  [](const PoolOfNumbers& pool, std::int64_t, std::int32_t chosen) {
                    require_least(pool, chosen, requests_of);
                  });
  in_random_pools("policy: least_tokens", [](const PoolOfNumbers& pool, std::int64_t, std::int32_t chosen) {
    require_least(pool, chosen, tokens_of);
  });
  in_random_pools("policy: session_affinity",
                  [](const PoolOfNumbers& pool, std::int64_t session, std::int32_t chosen) {
                    if (session < 0) {
                      require_least(pool, chosen, requests_of);
                    }
                  });
}

TEST_CASE("power of two never chooses a replica with more than all others") {
  for (const auto& [load, load_of] :
       {std::pair<std::string, LoadOf>{"tokens", tokens_of}, {"requests", requests_of}}) {
    in_random_pools("{policy: power_of_two, load: " + load + "}",
                    [&of = load_of](const PoolOfNumbers& pool, std::int64_t, std::int32_t chosen) {
                      const auto& all = pool.candidates();
                      const bool is_beaten = std::any_of(all.begin(), all.end(), [&](std::int32_t other) {
                        return other != chosen && of(pool, other) >= of(pool, chosen);
                      });
                      REQUIRE((all.size() == 1 || is_beaten));
                    });
  }
}

TEST_CASE("round robin lets nobody wait while others are chosen twice") {
  // A replica that takes requests all the time is chosen between any two choices of another.
  for (std::uint64_t seed = 1; seed <= kPools; ++seed) {
    Dice dice(seed, "pools");
    PoolOfNumbers pool(kReplicas);
    const auto router = make_router("policy: round_robin");
    std::vector<std::int64_t> since_steady(kReplicas);
    constexpr std::int32_t kSteady = 7;
    for (int i = 0; i < kRequestsEach; ++i) {
      shake(pool, dice);
      std::vector<std::int32_t> candidates = pool.candidates();
      const auto at = std::lower_bound(candidates.begin(), candidates.end(), kSteady);
      if (at == candidates.end() || *at != kSteady) {
        candidates.insert(at, kSteady);
        pool.set_candidates(candidates);
      }
      const std::int32_t chosen = router->choose(request_of(-1), pool.view());
      if (chosen == kSteady) {
        std::fill(since_steady.begin(), since_steady.end(), 0);
      } else {
        REQUIRE(++since_steady[static_cast<std::size_t>(chosen)] == 1);
      }
    }
  }
}

TEST_CASE("a session goes to the same replica of the same candidates") {
  for (std::uint64_t seed = 1; seed <= kPools; ++seed) {
    Dice dice(seed, "pools");
    PoolOfNumbers pool(kReplicas);
    const auto router = make_router("policy: session_affinity", seed);
    shake(pool, dice);
    const std::vector<std::int32_t> candidates = pool.candidates();
    const std::int64_t session = dice.between(0, 1'000'000);
    const std::int32_t home = router->choose(request_of(session), pool.view());
    for (int i = 0; i < kRequestsEach; ++i) {
      shake(pool, dice);
      router->choose(request_of(dice.between(0, 1'000'000)), pool.view());
      const std::vector<std::int32_t> others = pool.candidates();
      // Of more candidates a session may have another home, of fewer only when its own is gone.
      const bool are_fewer =
          std::includes(candidates.begin(), candidates.end(), others.begin(), others.end());
      if (are_fewer && std::binary_search(others.begin(), others.end(), home)) {
        REQUIRE(router->choose(request_of(session), pool.view()) == home);
      }
      pool.set_candidates(candidates);
      REQUIRE(router->choose(request_of(session), pool.view()) == home);
    }
  }
}
