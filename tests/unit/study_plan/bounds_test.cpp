// Llama-3-8B on an A100 (80 GB, SXM) by its datasheet, without host time. By hand:
//   weights of the layers: 32 x (4096 x 6144 + 4096 x 4096 + 4096 x 28672 + 14336 x 4096) = 6,979,321,856
//   and of lm_head:        4096 x 128256 = 525,336,576; both 15.009 GB, at 2.039 TB/s 7.361 ms a step
//   a prompt of 2000:      2 x 6,979,321,856 x 2000 FLOPs at 312 TFLOPS = 89.48 ms,
//                          2000 x 2001 / 2 pairs x 4 x 4096 x 32 FLOPs = 3.36 ms, lm_head 0.52 ms: 93.4 ms
//   a prompt of 200:       8.95 + 0.03 + 0.52 = 9.5 ms
// Elementwise operators come on top, with less than 8 % of it; the tests leave them that room.

#include <string>
#include <vector>

#include "sim/metrics/slo.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/plan/plan_bounds.hpp"
#include "sim/study/plan/plan_work.hpp"
#include "sim/study/plan/shared_prefixes.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr double kStepMs = 7.361;
constexpr double kLongPromptMs = 93.36;
constexpr double kElementwise = 1.08;

using Traffic = std::vector<TrafficRequest>;

struct Settings {
  std::string engine = "max_model_len: 4096";
  std::string hardware = "tensor_parallel: 1";
  std::string metrics = "vllm";
  std::string cluster{};
};

Scenario scenario_with(const Settings& settings = {}) {
  return load_scenario_text(
      "model: llama-3-8b\nhardware: {gpu: a100-80gb-sxm, " + settings.hardware + "}\nengine: {" +
          settings.engine +
          "}\ncost_model: {level: datasheet, host_fixed: 0 us, host_per_sequence: 0 us}\n"
          "workload: {generator: constant, rate: 4 req/s, requests: 3, prompt: {distribution: fixed, tokens: "
          "70}, output: {distribution: fixed, tokens: 9}}\nmetrics: {definitions: " +
          settings.metrics + "}\n" + settings.cluster,
      "test.yaml");
}

PlanBound bound_of(const SloTargets& slo, const std::vector<Traffic>& seeds, const Settings& settings = {},
                   double failed_max = 0) {
  const Scenario scenario = scenario_with(settings);
  return plan_bound(scenario, make_deployment(scenario), slo, seeds, failed_max);
}

SloTargets limit(LatencyMetric metric, LatencyStatistic statistic, double ms) {
  SloTargets slo;
  slo.targets.push_back({metric, statistic, duration_from_seconds(ms / 1e3)});
  return slo;
}

/// So many at once, or so far apart.
Traffic alike(std::int64_t count, std::int64_t prompt, std::int64_t output, Duration apart = {}) {
  Traffic traffic;
  for (std::int64_t i = 0; i < count; ++i) {
    traffic.push_back({TimePoint(apart * i), prompt, output});
  }
  return traffic;
}

TEST_CASE("no prompt is faster than its arithmetic") {
  const std::vector<Traffic> one = {alike(1, 2000, 1)};
  const PlanBound below = bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, kLongPromptMs), one);
  CHECK(below.is_impossible);
  CHECK(below.reason.find("ttft_p99 is at least ") == 0);
  CHECK(below.reason.find("limit 93.4 ms") != std::string::npos);
  const PlanBound above =
      bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, kLongPromptMs * kElementwise), one);
  CHECK_FALSE(above.is_impossible);
  CHECK(above.least_units == 1);
}

TEST_CASE("no token comes faster than the weights are read") {
  const std::vector<Traffic> one = {alike(1, 100, 20)};
  for (const LatencyMetric metric : {LatencyMetric::tpot, LatencyMetric::itl}) {
    CHECK(bound_of(limit(metric, LatencyStatistic::p50, kStepMs), one).is_impossible);
    CHECK_FALSE(bound_of(limit(metric, LatencyStatistic::p50, kStepMs * kElementwise), one).is_impossible);
  }
  const PlanBound bound = bound_of(limit(LatencyMetric::tpot, LatencyStatistic::mean, 5), one);
  CHECK(bound.reason.find("16.06 GB of weights on each GPU and 2.04 TB/s") != std::string::npos);
}

TEST_CASE("two GPUs read the weights in half the time") {
  const std::vector<Traffic> one = {alike(1, 100, 20)};
  const Settings two{.hardware = "tensor_parallel: 2"};
  CHECK(bound_of(limit(LatencyMetric::tpot, LatencyStatistic::p50, kStepMs / 2), one, two).is_impossible);
  CHECK_FALSE(
      bound_of(limit(LatencyMetric::tpot, LatencyStatistic::p50, kStepMs * 0.6), one, two).is_impossible);
}

TEST_CASE("an answer takes its prompt and its steps") {
  const std::vector<Traffic> one = {alike(1, 2000, 101)};
  const double least = kLongPromptMs + 100 * kStepMs;
  CHECK(bound_of(limit(LatencyMetric::e2el, LatencyStatistic::p50, least), one).is_impossible);
  // Each step also reads 131 KB for each of some 2050 tokens: 0.13 ms.
  CHECK_FALSE(
      bound_of(limit(LatencyMetric::e2el, LatencyStatistic::p50, kElementwise * least), one).is_impossible);
}

// Output is cut at max_model_len: 3900 + 197, of which 196 come after the first.
TEST_CASE("what is cut from an answer takes no time") {
  const std::vector<Traffic> one = {alike(1, 3900, 5000)};
  CHECK_FALSE(bound_of(limit(LatencyMetric::e2el, LatencyStatistic::p50, 2500), one).is_impossible);
}

// Interpolated between 9.5 and 93.4 it is 51.4 ms; as MLPerf reads it, the higher one.
TEST_CASE("the median of two is read as the scenario says") {
  const std::vector<Traffic> two = {{{TimePoint(), 200, 1}, {TimePoint(), 2000, 1}}};
  const SloTargets slo = limit(LatencyMetric::ttft, LatencyStatistic::p50, 60);
  CHECK_FALSE(bound_of(slo, two).is_impossible);
  CHECK(bound_of(slo, two, {.metrics = "mlperf"}).is_impossible);
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p50, 51), two).is_impossible);
}

TEST_CASE("what may fail may be the slowest") {
  const std::vector<Traffic> two = {{{TimePoint(), 200, 1}, {TimePoint(), 2000, 1}}};
  const SloTargets slo = limit(LatencyMetric::ttft, LatencyStatistic::p99, 60);
  CHECK(bound_of(slo, two, {}, 0.4).is_impossible);
  CHECK_FALSE(bound_of(slo, two, {}, 0.5).is_impossible);
}

TEST_CASE("the mean over seeds is what counts") {
  const std::vector<Traffic> seeds = {alike(1, 200, 1), alike(1, 2000, 1)};
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::mean, 51), seeds).is_impossible);
  CHECK_FALSE(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::mean, 60), seeds).is_impossible);
}

TEST_CASE("prompts without room fail on any number of units") {
  const std::vector<Traffic> four = {
      {{TimePoint(), 100, 1}, {TimePoint(), 4095, 1}, {TimePoint(), 4096, 1}, {TimePoint(), 100, 1}}};
  const SloTargets slo = limit(LatencyMetric::ttft, LatencyStatistic::p50, 1000);
  const PlanBound bound = bound_of(slo, four, {}, 0.2);
  CHECK(bound.is_impossible);
  CHECK(bound.reason.find("25 % of the prompts leave no room") == 0);
  CHECK_FALSE(bound_of(slo, four, {}, 0.25).is_impossible);
}

TEST_CASE("goodput counts requests that can be good") {
  const std::vector<Traffic> two = {{{TimePoint(), 200, 1}, {TimePoint(), 2000, 1}}};
  SloTargets slo;
  slo.request.ttft = milliseconds(60);
  slo.goodput_min = 0.51;
  CHECK(bound_of(slo, two).is_impossible);
  slo.goodput_min = 0.5;
  CHECK_FALSE(bound_of(slo, two).is_impossible);
}

// 100 prompts within 0.99 s: 99 of them must be done 1 s after the last came, which takes 99 x 92.84 ms (the
// head is read for many at once) = 9.19 s of 1.99 s, 4.62 units; with elementwise operators, less than 5.
TEST_CASE("prompts within a limit need units") {
  const std::vector<Traffic> many = {alike(100, 2000, 1, milliseconds(10))};
  const PlanBound bound = bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, 1000), many);
  CHECK(bound.least_units == 5);
  CHECK(bound.reason.find("ttft_p99 = 1000 ms: of 99 requests") == 0);
  // Two stages of a pipeline work side by side.
  const Settings stages{.hardware = "pipeline_parallel: 2"};
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, 1000), many, stages).least_units == 3);
  // A median asks for 50 of them, 4.64 s: 2.33 units. A mean of half a second is a median of a second.
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p50, 1000), many).least_units == 3);
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::mean, 500), many).least_units == 3);
}

TEST_CASE("the easiest seed decides") {
  const Traffic many = alike(100, 2000, 1, milliseconds(10));
  const Traffic few = alike(100, 200, 1, milliseconds(10));
  const SloTargets slo = limit(LatencyMetric::ttft, LatencyStatistic::p99, 1000);
  CHECK(bound_of(slo, {many, few}).least_units == bound_of(slo, {few}).least_units);
}

// Nine answers of 100 steps that nobody shares: 6.62 s of 1 s, and prompts.
TEST_CASE("steps are counted by the sequences that can share them") {
  const std::vector<Traffic> ten = {alike(10, 16, 101)};
  const SloTargets slo = limit(LatencyMetric::e2el, LatencyStatistic::p99, 1000);
  CHECK(bound_of(slo, ten, {.engine = "max_model_len: 4096, max_num_seqs: 1"}).least_units == 7);
  CHECK(bound_of(slo, ten, {.engine = "max_model_len: 4096, max_num_seqs: 10"}).least_units == 1);
}

// A KV cache of 256 blocks holds 4096 tokens. Nine of ten answers that hold 3001 to 3100 tokens take as many
// steps as if 1.34 of them were in each: 900 x 3050.5 / 4096 = 670 steps, 4.93 s of 2 s. Their prompts, 40
// tokens a step, cost nothing beside them, as the weights are read anyway. Where there is room, 1.2 s of
// prompts and 0.2 s of attention are the most.
TEST_CASE("steps are counted by the sequences that the KV cache holds") {
  const std::vector<Traffic> ten = {alike(10, 3000, 101)};
  const SloTargets slo = limit(LatencyMetric::e2el, LatencyStatistic::p99, 2000);
  CHECK(bound_of(slo, ten, {.engine = "max_model_len: 4096, num_gpu_blocks: 257"}).least_units == 3);
  CHECK(bound_of(slo, ten, {.engine = "max_model_len: 4096, num_gpu_blocks: 2571"}).least_units == 1);
}

// Nine answers of 100 steps by themselves: 6.62 s of 1 s, of which no prefill replica takes any.
TEST_CASE("answers are made where they are decoded") {
  const Settings split{.engine = "policy: disaggregated, max_model_len: 4096, max_num_seqs: 1",
                       .cluster =
                           "cluster: {network: {model: ideal}, pools: {prefill: {replicas: 1}, decode: "
                           "{replicas: 1}}}\n"};
  const SloTargets slo = limit(LatencyMetric::e2el, LatencyStatistic::p99, 1000);
  CHECK(bound_of(slo, {alike(10, 16, 101)}, split).least_units == 7);
  // Prompts may stay where they are decoded: 9.19 s of 1.99 s for two replicas a unit.
  const std::vector<Traffic> prompts = {alike(100, 2000, 1, milliseconds(10))};
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, 1000), prompts, split).least_units == 3);
}

// One request a second, then 50 at once: those alone, but for two of all that may miss the limit, take 48 x
// 92.84 ms = 4.46 s within a second.
TEST_CASE("a burst counts by itself") {
  Traffic traffic = alike(150, 200, 1, seconds(1));
  for (std::int64_t i = 0; i < 50; ++i) {
    traffic.push_back({TimePoint(seconds(150)), 2000, 1});
  }
  CHECK(bound_of(limit(LatencyMetric::ttft, LatencyStatistic::p99, 1000), {traffic}).least_units == 5);
}

// 4 a second: the first at 0, then every 250 ms.
TEST_CASE("traffic is what the engine would get") {
  const Traffic traffic = traffic_of(scenario_with()).value();
  REQUIRE(traffic.size() == 3);
  CHECK(traffic[2].arrival - traffic[1].arrival == milliseconds(250));
  CHECK(traffic[0].prompt == 70);
  CHECK(traffic[0].output == 9);
}

Request request_of(std::vector<ContentRun> content, std::uint64_t output_content, std::int64_t output) {
  Request request;
  std::int64_t prompt = 0;
  for (const ContentRun& run : content) {
    prompt += run.tokens;
  }
  request.prompt = TokenCount(prompt);
  request.output = TokenCount(output);
  request.content = std::move(content);
  request.output_content = output_content;
  return request;
}

TEST_CASE("what a prefix cache may have of a prompt is what others begin with") {
  SharedPrefixes prefixes;
  prefixes.add(request_of({{1, 10}, {2, 5}}, 0, 3));  // 10 with all
  prefixes.add(request_of({{1, 10}, {3, 8}}, 7, 4));  // all but its last token, with the next turn
  prefixes.add(request_of({{1, 10}, {3, 8}, {7, 4}, {4, 6}}, 0, 2));  // its last turn and the answer
  prefixes.add(request_of({{1, 6}}, 0, 1));   // 6 of the first run: all but its last token
  prefixes.add(request_of({{9, 20}}, 0, 1));  // alone
  Request plain = request_of({}, 0, 1);
  plain.prompt = TokenCount(12);
  prefixes.add(plain);
  CHECK(prefixes.tokens() == std::vector<std::int64_t>{10, 17, 22, 5, 0, 0});
}

// Of 70 tokens 30 are shared: 40 run over 30 and more, 40 x 30 + 40 x 41 / 2 pairs. The decode steps attend
// to as much as without, and hold 30 less of their own in each of 8 steps.
TEST_CASE("what is cached is no work") {
  const Deployment deployment = make_deployment(scenario_with());
  Traffic traffic = alike(1, 70, 9);
  traffic.front().shared = 30;
  const std::vector<RequestWork> works = works_of(traffic, deployment);
  CHECK(works.front().prompt == 40);
  CHECK(works.front().pairs == 2020);
  CHECK(works.front().decode_context == 596);
  CHECK(works.front().held == 596 - 240);
}

// 70 prompt tokens and 8 that are fed back: 78. Pairs of the prompt 70 x 71 / 2. Decode steps attend 71 to 78
// tokens, 596; within a window of 32, 8 x 32.
TEST_CASE("the work of a request is counted from its lengths") {
  const Deployment deployment = make_deployment(scenario_with());
  const std::vector<RequestWork> works = works_of(alike(1, 70, 9), deployment);
  CHECK(works.front().prompt == 70);
  CHECK(works.front().later == 8);
  CHECK(works.front().pairs == 2485);
  CHECK(works.front().decode_context == 596);
  CHECK(works.front().held == 596);
  Deployment windowed = deployment;
  windowed.pools.front().spec.model.sliding_window = 32;
  const std::vector<RequestWork> within = works_of(alike(1, 70, 9), windowed);
  CHECK(within.front().pairs == 32 * 33 / 2 + 38 * 32);
  CHECK(within.front().decode_context == 256);
  CHECK(within.front().held == 596);
}

}  // namespace
}  // namespace inferometer
