#include "tests/support/random_cluster_pools.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/support/random_prices.hpp"
#include "tests/support/random_swap.hpp"
#include "tests/support/random_techniques.hpp"
#include "tests/unit/router/router_fixture.hpp"

namespace inferometer::testing {
namespace {

struct PoolKind {
  PoolRole role = PoolRole::mixed;
  std::int64_t longest = 0;
  bool takes_handed_over = false;  ///< its policy must
  bool is_alone = false;           ///< no KV comes or goes between its replicas
};

/// Dice of their own: what has none of them stays as it is.
void draw_techniques(Dice dice, EngineSetup& engine) {
  if (!dice.chance(70)) {
    return;
  }
  engine.policy = "chunked_prefill";
  if (dice.chance(35)) {  // steps that draft are no stretches, which loads would end
    engine.speculation = random_rule(dice);
  }
  if (dice.chance(80)) {
    engine.offload = random_offload(dice);
    const std::int64_t least = ceil_div(engine.max_model_len, engine.block_size);
    engine.blocks = least + dice.one_of({0, least / 4, least});  // so that many are taken and come back
  } else if (engine.speculation) {
    engine.speculation->recomputes_last_hit = dice.chance(40);
  }
}

/// A watermark beside which a sequence of max_model_len fits, as scenarios must have it.
void draw_watermark(Dice& dice, EngineSetup& engine) {
  const std::int64_t percent = dice.chance(70) ? 0 : dice.between(1, 20);
  engine.keys += std::string(", watermark: 0.") + (percent < 10 ? "0" : "") + std::to_string(percent);
  const std::int64_t least = ceil_div(engine.max_model_len, engine.block_size);
  while (engine.blocks - percent * engine.blocks / 100 - 1 < least && percent > 0) {
    ++engine.blocks;
  }
}

/// Returns the most tokens that one step may run.
std::int64_t draw_policy(Dice& dice, std::uint64_t seed, const PoolKind& kind, EngineSetup& engine) {
  engine.policy =
      kind.takes_handed_over
          ? dice.name_of({"continuous", "chunked_prefill", "chunked_prefill", "sarathi", "priority",
                          "shortest_job_first"})
          : dice.name_of({"static", "orca", "continuous", "chunked_prefill", "sarathi", "sglang", "trtllm"});
  if (kind.is_alone) {
    draw_techniques(Dice(seed, "tests/random_cluster/techniques"), engine);
  }
  const std::int64_t tokens_per_decode = engine.speculation ? engine.speculation->tokens + 1 : 1;
  const std::int64_t budget = engine.max_num_seqs * tokens_per_decode + dice.one_of({0, 1, 7, 32, 100, 256});
  if (engine.policy == "sglang") {
    engine.keys = "chunked_prefill_size: " + std::to_string(engine.block_size + budget) +
                  ", enable_mixed_chunk: " + (dice.chance(30) ? "true" : "false");
    return engine.block_size + budget;
  }
  if (engine.policy == "trtllm") {
    const std::string capacity = dice.chance(50) ? "max_utilization" : "guaranteed_no_evict";
    engine.keys =
        "enable_chunked_context: true, max_num_tokens: " + std::to_string(engine.block_size + budget) +
        ", capacity_scheduler: " + capacity;
    return engine.block_size + budget;
  }
  if (engine.policy == "chunked_prefill" || engine.policy == "priority" ||
      engine.policy == "shortest_job_first") {
    engine.keys = "max_num_batched_tokens: " + std::to_string(budget) +
                  ", admission: " + (dice.chance(50) || engine.offload ? "full_isl" : "first_chunk");
    draw_watermark(dice, engine);
    if (dice.chance(30)) {  // short prompts overtake long ones
      engine.keys += ", long_prefill_token_threshold: " + std::to_string(dice.between(1, 32));
    }
    return budget;
  }
  if (engine.policy == "sarathi") {
    engine.keys = "chunk_size: " + std::to_string(budget);
    draw_watermark(dice, engine);
    return budget;
  }
  if (engine.policy == "continuous") {
    engine.keys = "max_num_batched_tokens: " + std::to_string(engine.max_model_len + dice.one_of({0, 40}));
    draw_watermark(dice, engine);
    return engine.max_model_len;
  }
  engine.keys = std::string("reserve: ") + (dice.chance(30) ? "max_model_len" : "max_new_tokens");
  if (engine.policy == "static") {
    engine.keys += std::string(", static_padding: ") + (dice.chance(50) ? "true" : "false") +
                   ", wait_window: " + std::to_string(dice.one_of({0, 0, 50, 1000})) + " us";
  }
  return engine.max_model_len;
}

void draw_engine(Dice& dice, std::uint64_t seed, const PoolKind& kind, RandomPool& pool) {
  EngineSetup& engine = pool.replica.setup;
  engine.block_size = dice.one_of({1, 2, 3, 5, 8, 16, 16});
  engine.max_model_len = kind.longest;
  engine.max_num_seqs = dice.one_of({1, 2, 3, 5, 8, 16});
  const std::int64_t least = ceil_div(kind.longest, engine.block_size);
  engine.blocks = least + dice.one_of({0, 1, least / 4, least / 2, least, 4 * least, 30 * least});
  const std::int64_t step_tokens = draw_policy(dice, seed, kind, engine);
  engine.plans_ahead = Dice(seed, "tests/random_cluster/plans_ahead").chance(30);
  RandomPrices prices =
      dice.chance(75)
          ? RandomPrices{make_test_pricer({dice.between(1, 20), dice.between(0, 3), dice.between(0, 2),
                                           dice.between(0, 2), dice.between(0, 2)}),
                         std::nullopt, std::nullopt, "round prices"}
          : random_prices(dice, kind.longest, {.max_tokens = step_tokens, .max_rows = engine.max_num_seqs});
  engine.window = prices.window;
  pool.replica.pricer = std::move(prices.pricer);
  pool.replica.prices = std::move(prices.text);
  const std::int64_t percent = dice.between(1, 100);
  if (percent <= 5) {
    pool.replica.promise = RandomDeployment::Promise::none;
  } else if (percent <= 10) {
    pool.replica.promise = RandomDeployment::Promise::bounded;
    pool.replica.promise_steps = dice.one_of({1, 2, 3, 7, 50});
  }
}

void draw_stages(Dice& dice, RandomPool& pool, PoolSetup& setup) {
  if (!dice.chance(30)) {
    return;
  }
  setup.pipeline = static_cast<std::int32_t>(dice.one_of({1, 2, 2, 3, 4}));
  pool.replica.setup.speculation.reset();
  pool.replica.setup.offload.reset();
  pool.replica.setup.plans_ahead = false;
  // Without more blocks, micro-batches that each have one sequence wait for each other's.
  if (dice.chance(50)) {
    pool.replica.setup.blocks *= setup.pipeline;
  }
  for (std::int32_t stage = 0; stage < setup.pipeline; ++stage) {
    pool.stages.push_back(make_test_pricer(
        {dice.between(1, 12), dice.between(0, 2), dice.between(0, 2), dice.between(0, 1), 0}));
  }
  pool.replica.pricer = pool.stages.front();
  pool.replica.prices = "round prices of stages";
  pool.replica.setup.window = dice.chance(20) ? std::optional(dice.between(1, 50)) : std::nullopt;
}

/// Every router, the ones that follow prompts with limits that small clusters meet.
std::string draw_router(Dice& dice) {
  const std::string policy =
      dice.name_of({"round_robin", "random", "least_outstanding", "least_tokens", "power_of_two",
                    "session_affinity", "cache_aware", "kv_aware", "kv_aware", "prefix_scorer", "conductor"});
  std::string keys;
  if (policy == "cache_aware") {
    keys = ", balance_abs_threshold: " + std::to_string(dice.between(0, 4)) +
           ", max_tree_size: " + std::to_string(dice.one_of({1, 100, 2000})) +
           ", below_threshold: " + dice.name_of({"least_outstanding", "smallest_tree"});
  } else if (policy == "kv_aware") {
    keys = ", router_block_size: " + std::to_string(dice.one_of({1, 16})) +
           (dice.chance(30) ? ", temperature: 0.5" : "") +
           (dice.chance(30) ? ", predicted_ttl: " + std::to_string(dice.one_of({50, 5000})) + " us" : "");
  } else if (policy == "prefix_scorer") {
    keys = ", router_block_size: " + std::to_string(dice.one_of({1, 8})) +
           ", capacity_per_replica: " + std::to_string(dice.one_of({3, 100}));
  }
  return "{policy: " + policy + keys + "}";
}

void add_pool(Dice& dice, std::uint64_t seed, const PoolKind& kind, std::int64_t most_replicas,
              RandomCluster& cluster) {
  RandomPool& pool = cluster.pools.emplace_back();
  PoolSetup& setup = cluster.setup.pools.emplace_back();
  draw_engine(dice, seed, kind, pool);
  draw_stages(dice, pool, setup);
  if (pool.replica.setup.policy == "continuous" && setup.pipeline == 1) {
    draw_swap(dice, pool.replica.setup);
  }
  setup.role = kind.role;
  setup.replicas = static_cast<std::int32_t>(dice.between(1, most_replicas));
  setup.at_start = setup.replicas;
  setup.max_model_len = kind.longest;
  setup.kv_bytes_per_token = Bytes(dice.one_of({7, 1000, 1000, 30'000}));
  setup.layers = dice.one_of({1, 2, 5, 32});
  setup.weights = Bytes(setup.kv_bytes_per_token.count() * dice.one_of({1, 500, 20'000}));
  setup.prefill_tokens_per_second = static_cast<double>(dice.between(1, 200)) * 1e4;
  pool.router = draw_router(dice);
  setup.make_router = [seed, text = pool.router, path = std::string(to_string(kind.role))] {
    return make_router(text, seed, path);
  };
}

}  // namespace

std::int64_t draw_pools(Dice& dice, std::uint64_t seed, RandomCluster& cluster) {
  const std::int64_t longest = dice.chance(15) ? dice.between(300, 1500) : dice.between(20, 300);
  const auto of_length = [&] { return dice.chance(80) ? longest : longest + dice.between(1, 60); };
  if (dice.chance(35)) {
    add_pool(dice, seed, {.longest = longest, .is_alone = true}, 6, cluster);
    return longest;
  }
  cluster.setup.disaggregation.emplace();
  const bool is_dynamic = dice.chance(25);
  if (is_dynamic) {
    cluster.setup.dynamic_split.emplace();
  }
  add_pool(dice, seed, {PoolRole::prefill, of_length(), is_dynamic}, is_dynamic ? 3 : 2, cluster);
  add_pool(dice, seed, {PoolRole::decode, of_length(), true}, is_dynamic ? 3 : 2, cluster);
  if (dice.chance(35)) {
    add_pool(dice, seed, {PoolRole::mixed, of_length(), false}, 2, cluster);
  }
  return longest;
}

}  // namespace inferometer::testing
