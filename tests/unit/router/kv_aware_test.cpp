#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

/// `prefill` of the tokens are not computed yet.
void set_tokens(PoolOfNumbers& pool, std::int32_t replica, std::int64_t tokens, std::int64_t prefill = 0,
                std::int64_t requests = 1) {
  pool.set_load(replica, ReplicaLoad{.outstanding = requests, .tokens = tokens, .prefill_tokens = prefill});
}

std::int32_t chosen(const std::string& keys, const PoolOfNumbers& pool, std::int64_t prompt = 160) {
  return make_router("{policy: kv_aware" + keys + "}")->choose(prompt_of({{7, prompt}}), pool.view());
}

}  // namespace

TEST_CASE("kv aware adds blocks to prefill without those cached to blocks that decode") {
  // A prompt of 10 blocks of 16 tokens.
  PoolOfNumbers pool(2);
  set_tokens(pool, 0, 320);
  pool.set_cached(0, 96);
  set_tokens(pool, 1, 208);
  CHECK(chosen("", pool) == 1);                       // 10 - 6 + 20 = 24 against 10 + 13 = 23
  CHECK(chosen(", overlap_weight: 1.5", pool) == 0);  // 10 - 9 + 20 = 21
  pool.set_cached(0, 95);                             // 5 whole blocks: 10 - 7.5 + 20 = 22.5
  CHECK(chosen(", overlap_weight: 1.5", pool) == 0);
  pool.set_cached(0, 79);  // 4: 24
  CHECK(chosen(", overlap_weight: 1.5", pool) == 1);
  CHECK(chosen(", overlap_weight: 0", pool) == 1);
}

TEST_CASE("kv aware weighs what is to be prefilled") {
  PoolOfNumbers pool(2);
  set_tokens(pool, 0, 320);
  pool.set_cached(0, 96);
  set_tokens(pool, 1, 208);
  CHECK(chosen(", prefill_load_scale: 3", pool) == 0);    // 3 x 4 + 20 against 3 x 10 + 13
  CHECK(chosen(", prefill_load_scale: 0.5", pool) == 1);  // 22 against 18
  // What waits there counts as its own: 8 tokens are half a block.
  PoolOfNumbers waiting(2);
  set_tokens(waiting, 0, 160, 8);
  set_tokens(waiting, 1, 160, 24);
  CHECK(chosen("", waiting) == 0);
  set_tokens(waiting, 0, 160, 25);
  CHECK(chosen("", waiting) == 1);
}

TEST_CASE("what is cached saves no more than there is to prefill") {
  // 20 blocks cached at three times their weight: 0 + 12 against 10 + 1.
  PoolOfNumbers pool(2);
  set_tokens(pool, 0, 192);
  pool.set_cached(0, 320);
  set_tokens(pool, 1, 16);
  CHECK(chosen(", overlap_weight: 3", pool) == 1);
}

TEST_CASE("kv aware may count requests and has blocks of its own size") {
  PoolOfNumbers pool(2);
  set_tokens(pool, 0, 32, 0, 5);
  set_tokens(pool, 1, 64, 0, 2);
  CHECK(chosen("", pool) == 0);
  CHECK(chosen(", request_weight: 0.6", pool) == 0);  // 2 + 3 against 4 + 1.2
  CHECK(chosen(", request_weight: 0.7", pool) == 1);  // 2 + 3.5 against 4 + 1.4
  set_tokens(pool, 0, 65);                            // 5 and 4 blocks of 16, 2 and 1 of 64
  CHECK(chosen("", pool) == 1);
  pool.set_cached(0, 127);  // 7 blocks of 16, one of 64
  CHECK(chosen("", pool) == 0);
  set_tokens(pool, 0, 129);  // 3 of 64, less one
  CHECK(chosen(", router_block_size: 64", pool) == 1);
}

TEST_CASE("of replicas of the same cost kv aware draws one") {
  constexpr std::size_t kRequests = 20'000;
  PoolOfNumbers pool(6);
  set_tokens(pool, 2, 16);
  const auto drawn = choices(*make_router("policy: kv_aware"), pool, kRequests);
  std::vector<double> counts = counts_of(drawn, 6);
  CHECK(counts[2] == 0);
  counts.erase(counts.begin() + 2);
  CHECK(chi_square(counts, std::vector<double>(5, kRequests / 5.0)) < chi_square_limit(4));
}

TEST_CASE("with a temperature kv aware draws by softmax of the costs") {
  // Costs of 0, 1, 2 and 4 blocks above the least: 0, -1/4, -1/2 and -1 over a temperature of 0.5.
  constexpr std::size_t kRequests = 40'000;
  PoolOfNumbers pool(4);
  const std::vector<double> above{0, 1, 2, 4};
  for (std::int32_t replica = 0; replica < 4; ++replica) {
    set_tokens(pool, replica, 160 + 16 * static_cast<std::int64_t>(above[static_cast<std::size_t>(replica)]));
  }
  std::vector<double> expected;
  double sum = 0;
  for (const double blocks : above) {
    expected.push_back(std::exp(-blocks / 4 / 0.5));
    sum += expected.back();
  }
  for (double& each : expected) {
    each *= kRequests / sum;
  }
  const auto router = make_router("{policy: kv_aware, temperature: 0.5}");
  CHECK(chi_square(counts_of(choices(*router, pool, kRequests), 4), expected) < chi_square_limit(3));
  const PoolOfNumbers even(5);  // nothing to range over: all as likely
  CHECK(chi_square(counts_of(choices(*router, even, kRequests), 5), std::vector<double>(5, kRequests / 5.0)) <
        chi_square_limit(4));
}

TEST_CASE("kv aware believes for so long that what it sent somewhere is cached there") {
  PoolOfNumbers pool(2);
  pool.set_cached(0, 1000);  // not asked for
  set_tokens(pool, 0, 16);
  const auto router = make_router("{policy: kv_aware, predicted_ttl: 120 s}");
  const Request request = prompt_of({{7, 160}});
  CHECK(router->choose(request, pool.view()) == 1);  // from now on it is 10 blocks cheaper
  set_tokens(pool, 1, 176);                          // 10 + 1 against 0 + 11: drawn
  set_tokens(pool, 0, 32);
  CHECK(router->choose(request, pool.view()) == 1);
  pool.set_now(seconds(120) - picoseconds(1));
  CHECK(router->choose(request, pool.view()) == 1);
  pool.set_now(seconds(240) - picoseconds(1));
  CHECK(router->choose(request, pool.view()) == 0);
  router->forget(0);
  set_tokens(pool, 0, 192);
  CHECK(router->choose(request, pool.view()) == 1);
}
