#include <algorithm>
#include <string>
#include <vector>

#include "sim/scenario/capacity.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

Deployment deploy(const std::string& engine, const std::string& cluster,
                  const std::string& hardware = "{gpu: h100-sxm}") {
  return make_deployment(load_scenario_text(
      "model: llama-3-8b\nhardware: " + hardware + "\nengine: " + engine + "\ncluster: " + cluster +
          "\nworkload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n",
      "a.yaml"));
}

double rate_of(const Deployment& deployment, const std::vector<RequestLengths>& sample) {
  const std::optional<PerSecond> rate = saturated_rate(deployment, sample);
  REQUIRE(rate);
  return rate->count();
}

Duration prefill_time(const StepPricer& pricer, std::int64_t prompt) {
  const std::vector<ChunkShape> chunk = {{prompt, 0}};
  return pricer.price({0, 0, 1, chunk}).total();
}

TEST_CASE("replicas of a pool add up") {
  const std::vector<RequestLengths> sample(600, {300, 20});
  const std::string engine = "{policy: static, max_num_seqs: 8}";
  const double one = rate_of(deploy(engine, "{pools: {mixed: {replicas: 1}}}"), sample);
  CHECK(rate_of(deploy(engine, "{pools: {mixed: {replicas: 3}}}"), sample) == Approx(3 * one));
  // Those that may be started count.
  CHECK(rate_of(deploy(engine, "{autoscaling: [{target_outstanding: 5, max: 4}]}"), sample) ==
        Approx(4 * one));
}

// One seat: a prompt after the other, 500 tokens each; a decode after the other, 19 steps after the first
// token, over one token of context more each.
TEST_CASE("of prompts and decodes on pools of their own the slower ones count") {
  constexpr std::int64_t kPrompt = 500, kOutput = 20;
  const std::string engine = "{policy: disaggregated, system: distserve, max_num_seqs: 1}";
  const std::vector<RequestLengths> sample(200, {kPrompt, kOutput});
  const Deployment few = deploy(engine, "{pools: {prefill: {}, decode: {}}}");
  const StepPricer& pricer = *few.pools[1].pricers.front();
  Duration decode{};
  for (std::int64_t emitted = 1; emitted < kOutput; ++emitted) {
    decode = decode + pricer.price({1, kPrompt + emitted, 1, {}}).total();
  }
  CHECK(rate_of(few, sample) == Approx(1 / to_seconds(decode)).epsilon(1e-6));
  CHECK(rate_of(deploy(engine, "{pools: {prefill: {}, decode: {replicas: 2}}}"), sample) ==
        Approx(2 / to_seconds(decode)).epsilon(1e-6));
  // So many decode replicas that the one for prompts is the slower.
  const double prefill = to_seconds(prefill_time(*few.pools[0].pricers.front(), kPrompt));
  CHECK(rate_of(deploy(engine, "{pools: {prefill: {}, decode: {replicas: 99}}}"), sample) ==
        Approx(1 / prefill).epsilon(1e-6));
  // A mixed pool comes on top, each of whose replicas does both.
  const std::string overflowing = "{policy: disaggregated, system: splitwise, max_num_seqs: 1}";
  CHECK(rate_of(deploy(overflowing, "{pools: {mixed: {}, prefill: {}, decode: {}}}"), sample) ==
        Approx(1 / to_seconds(decode) + 1 / (prefill + to_seconds(decode))).epsilon(1e-6));
}

// As vLLM does it, the decode replica computes the last token of the prompt again: one step more, with all of
// the prompt as its context.
TEST_CASE("a first token from the decode replica is its work") {
  constexpr std::int64_t kPrompt = 500, kOutput = 20;
  const Deployment deployment = deploy("{policy: disaggregated, system: vllm-nixl, max_num_seqs: 1}",
                                       "{pools: {prefill: {replicas: 9}, decode: {}}}");
  const StepPricer& pricer = *deployment.pools[1].pricers.front();
  Duration decode{};
  for (std::int64_t emitted = 0; emitted < kOutput; ++emitted) {
    decode = decode + pricer.price({1, kPrompt + emitted, 1, {}}).total();
  }
  const std::vector<RequestLengths> sample(200, {kPrompt, kOutput});
  CHECK(rate_of(deployment, sample) == Approx(1 / to_seconds(decode)).epsilon(1e-6));
}

// Two micro-batches of one prompt each pass two stages: a stage is held for its GPU time, and a micro-batch
// is back when it has passed both and its host work is done.
TEST_CASE("a pipeline ends a prompt each time its slowest stage does, or its micro-batches are back") {
  const Deployment deployment = deploy("{policy: continuous, max_num_seqs: 2, max_num_batched_tokens: 8192}",
                                       "{}", "{gpu: h100-sxm, pipeline_parallel: 2}");
  constexpr std::int64_t kPrompt = 2000;
  const std::vector<ChunkShape> chunk = {{kPrompt, 0}};
  double slowest = 0, round = 0;
  for (const auto& stage : deployment.front().pricers) {
    const StepCost cost = stage->price({0, 0, 1, chunk});
    slowest = std::max(slowest, to_seconds(cost.total()) - to_seconds(cost.host));
    round += to_seconds(cost.total());
  }
  const std::vector<RequestLengths> sample(200, {kPrompt, 1});
  CHECK(rate_of(deployment, sample) == Approx(1 / std::max(slowest, round / 2)).epsilon(1e-3));
}

}  // namespace
}  // namespace inferometer
