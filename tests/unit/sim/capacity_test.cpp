#include "sim/scenario/capacity.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer {
namespace {

using testing::run_scenario;
using testing::ScenarioRun;

Scenario scenario_with(const std::string& engine) {
  return load_scenario_text("model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: " + engine +
                                "\nworkload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n",
                            "a.yaml");
}

// A static batch of n equal requests: one step prefills all n prompts, then each of output - 1 steps decodes
// one token of all n, over one more token of context each.
TEST_CASE("the capacity of static batching with equal requests is a batch over its time") {
  constexpr std::int64_t kBatch = 8, kPrompt = 300, kOutput = 20;
  const Scenario scenario = scenario_with("{policy: static, max_num_seqs: 8}");
  const Deployment deployment = make_deployment(scenario);
  const std::vector<ChunkShape> chunks(kBatch, ChunkShape{kPrompt, 0});
  Duration time = deployment.front().pricers.front()->price({0, 0, kBatch, chunks}).total();
  for (std::int64_t emitted = 1; emitted < kOutput; ++emitted) {
    const std::int64_t context = kBatch * (kPrompt + emitted);
    time = time + deployment.front().pricers.front()->price({kBatch, context, kBatch, {}}).total();
  }
  const std::vector<RequestLengths> sample(800, {kPrompt, kOutput});
  const std::optional<PerSecond> rate = saturated_rate(deployment, sample);
  REQUIRE(rate);
  // 160 to 640 of 800 are 60 whole batches.
  CHECK(rate->count() == Approx(kBatch / to_seconds(time)).epsilon(1e-9));
}

// One request at a time, one token each: its price, over and over.
TEST_CASE("the capacity of one slot is one over the service time") {
  const Scenario scenario = scenario_with("{policy: continuous, max_num_seqs: 1}");
  const Deployment deployment = make_deployment(scenario);
  const std::vector<ChunkShape> chunk = {{500, 0}};
  const double service = to_seconds(deployment.front().pricers.front()->price({0, 0, 1, chunk}).total());
  const std::vector<RequestLengths> sample(100, {500, 1});
  CHECK(saturated_rate(deployment, sample)->count() == Approx(1 / service).epsilon(1e-9));
}

// Prompts that take a step of one service time and prompts that take another, the long ones all at the end:
// the rate is that of the mixture, not of its middle.
TEST_CASE("lengths that drift over the sample are mixed") {
  const Scenario scenario = scenario_with("{policy: continuous, max_num_seqs: 1}");
  const Deployment deployment = make_deployment(scenario);
  const auto service = [&](std::int64_t prompt) {
    const std::vector<ChunkShape> chunk = {{prompt, 0}};
    return to_seconds(deployment.front().pricers.front()->price({0, 0, 1, chunk}).total());
  };
  std::vector<RequestLengths> sample(1000, {500, 1});
  std::fill(sample.begin() + 700, sample.end(), RequestLengths{4000, 1});
  const double mixed = 1 / (0.7 * service(500) + 0.3 * service(4000));
  CHECK(saturated_rate(deployment, sample)->count() == Approx(mixed).epsilon(0.01));
}

TEST_CASE("too few requests to fill the engine twice give no capacity") {
  const Scenario scenario = scenario_with("{max_num_seqs: 16}");
  const Deployment deployment = make_deployment(scenario);
  const std::vector<RequestLengths> sample(32, {100, 10});
  CHECK_FALSE(saturated_rate(deployment, std::span(sample).first(31)));
  CHECK(saturated_rate(deployment, sample));
  CHECK(capacity_sample_size(deployment) >= 32);
}

// ---------------------------------------------------------------------------------------------------------

ScenarioRun run_at(const std::string& rate, int requests) {
  return run_scenario(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nworkload: {preset: azure-conversation, rate: " + rate +
      " req/s, requests: " + std::to_string(requests) + "}\n");
}

// Twice what it can take: the replica never waits for a request, so that its throughput is its capacity, up
// to filling and draining (some 20 of 550 s).
TEST_CASE("the estimated capacity is the throughput at overload") {
  const Summary summary = run_at("45", 12'000).summary;
  REQUIRE(summary.stability.load);
  const double estimate = summary.stability.offered_per_second / *summary.stability.load;
  CHECK(summary.request_throughput == Approx(estimate).epsilon(0.04));
}

// What a policy reserves for is what clients allow: Orca's batch, and with it its capacity, is smaller for
// it.
TEST_CASE("the estimate reserves what the run reserves") {
  const auto capacity = [](const Summary& summary) {
    return summary.stability.offered_per_second / *summary.stability.load;
  };
  const std::string text =
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: orca}\n"
      "workload: {preset: azure-conversation, rate: 45 req/s, requests: 12000}\n";
  const Summary exact = run_scenario(text).summary;
  const Summary generous = run_scenario(text, {"workload.max_new_tokens=4096"}).summary;
  CHECK(generous.request_throughput == Approx(capacity(generous)).epsilon(0.04));
  CHECK(capacity(generous) < 0.9 * capacity(exact));
}

// The estimate is good for a few percent: clear of that on both sides, the queue settles below a load of 1
// and grows above it.
TEST_CASE("the queue turns unstable where the load passes 1") {
  const Summary overloaded = run_at("45", 12'000).summary;
  const double capacity = overloaded.stability.offered_per_second / *overloaded.stability.load;
  for (const double load : {0.8, 0.93}) {
    const Summary summary = run_at(std::to_string(load * capacity), 12'000).summary;
    CAPTURE(load, *summary.stability.load, summary.stability.sentence);
    CHECK(summary.stability.verdict == QueueStability::stable);
    CHECK(*summary.stability.load == Approx(load).epsilon(0.05));
  }
  const Summary summary = run_at(std::to_string(1.1 * capacity), 12'000).summary;
  CAPTURE(*summary.stability.load, summary.stability.sentence);
  CHECK(summary.stability.verdict == QueueStability::unstable);
  CHECK(*summary.stability.load == Approx(1.1).epsilon(0.05));
}

}  // namespace
}  // namespace inferometer
