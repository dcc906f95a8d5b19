// Bounds of plans against what is simulated: no price of a step is below its least cost, whatever the GPU,
// model, number formats, level and split; and what a bound excludes, a simulation does not reach.

#include "sim/study/plan/plan_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/run_summary.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/plan/least_cost.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer {
namespace {

using testing::Dice;
using testing::run_scenario;
using testing::ScenarioRun;

std::string number(std::int64_t value) {
  return std::to_string(value);
}

/// A model on GPUs as a user may write it, whether or not it fits: blocks are given. Of 8 KV heads or more,
/// so that all splits go.
std::string random_hardware(Dice& dice, std::int64_t max_model_len) {
  const std::string model = dice.name_of(builtin_model_names());
  const ModelSpec spec = load_model(model);
  std::string gpu = dice.name_of(builtin_gpu_names());
  if (dice.chance(60)) {
    gpu = dice.name_of({"a100-80gb-sxm", "h100-sxm", "h200-sxm"});  // of which kernels were measured
  }
  std::int64_t tensor = dice.one_of({1, 1, 2, 4, 8});
  while (spec.heads % tensor != 0 || (spec.kv_heads % tensor != 0 && tensor % spec.kv_heads != 0)) {
    tensor /= 2;
  }
  const std::int64_t pipeline = tensor <= 4 && dice.chance(20) ? 2 : 1;
  std::string text = "model: " + model + "\nhardware: {gpu: " + gpu + ", tensor_parallel: " + number(tensor) +
                     ", pipeline_parallel: " + number(pipeline);
  if (dice.chance(15)) {
    text += ", straggler: 1." + number(dice.between(1, 9));
  }
  text += "}\nengine: {num_gpu_blocks: 20000, max_model_len: " + number(max_model_len);
  return text;
}

std::string random_cost_model(Dice& dice) {
  std::string text =
      "cost_model: {level: " + dice.name_of({"calibrated", "calibrated", "roofline", "datasheet"});
  text += ", kernels: " + dice.name_of({"vllm", "tensorrt-llm"});
  text += ", host_overlap: " + dice.name_of({"true", "false"});
  text += ", host_per_prefill_token: " + dice.name_of({"0 s", "2 us"});
  text += ", frontend_latency: " + dice.name_of({"0 s", "8 ms"});
  text += ", cuda_graphs: " + dice.name_of({"true", "false"});
  return text + "}\n";
}

std::string random_formats(Dice& dice) {
  return ", quantization: " + dice.name_of({"none", "none", "fp8", "fp8_block", "int4"}) +
         ", kv_cache_dtype: " + dice.name_of({"auto", "fp8"});
}

struct RandomStep {
  StepShape shape;
  std::vector<ChunkShape> chunks;
};

/// Within the limits of the pool, few sequences or many, short or long.
void draw_step(Dice& dice, const PoolDeployment& pool, RandomStep& step) {
  const std::int64_t longest = pool.limits.max_model_len;
  const std::int64_t seats = pool.limits.max_num_seqs;
  std::int64_t tokens = pool.pricer_limits.max_tokens;
  step.chunks.clear();
  step.shape = {};
  if (dice.chance(70)) {
    step.shape.decodes = dice.between(1, std::min(dice.one_of({1, 4, 32, 1024}), seats));
    const std::int64_t window = pool.spec.model.sliding_window.value_or(longest);
    const std::int64_t mean = dice.between(1, std::min(dice.one_of({2, 100, 2000, 1 << 20}), longest));
    step.shape.add_context(ContextTokens{mean, std::min(mean, window)} * step.shape.decodes);
    tokens -= step.shape.decodes;
  }
  const std::int64_t free_seats = seats - step.shape.decodes;
  if (step.shape.decodes == 0 || (free_seats > 0 && dice.chance(50))) {
    const std::int64_t chunks = std::min(free_seats, dice.between(1, dice.one_of({1, 2, 6})));
    for (std::int64_t i = 0; i < chunks && tokens > 0; ++i) {
      const std::int64_t q = dice.between(1, std::min({tokens, longest, dice.one_of({1, 16, 300, 1 << 20})}));
      step.chunks.push_back({q, dice.chance(50) ? 0 : dice.between(0, longest - q)});
      tokens -= q;
    }
  }
  step.shape.chunks = step.chunks;
  step.shape.sampled_rows =
      step.shape.decodes + dice.between(0, static_cast<std::int64_t>(step.chunks.size()));
}

double price_seconds(const PoolDeployment& pool, const StepShape& shape) {
  double seconds = 0;
  for (const auto& stage : pool.pricers) {
    seconds += to_seconds(stage->price(shape).total());
  }
  return seconds;
}

TEST_CASE("no step costs less than its least cost") {
  constexpr std::uint64_t kDeployments = 60;
  constexpr int kSteps = 300;
  constexpr double kRounding = 1e-6;
  double sum_of_shares = 0;
  std::int64_t steps = 0;
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    Dice dice(seed, "tests/plan_bounds/prices");
    const std::int64_t len = dice.one_of({512, 4096, 32768});
    const std::string text = random_hardware(dice, len) + random_formats(dice) +
                             ", max_num_seqs: " + number(dice.one_of({8, 100, 256})) +
                             ", max_num_batched_tokens: " + number(dice.one_of({512, 2048, 6000})) + "}\n" +
                             random_cost_model(dice) +
                             "workload: {preset: azure-conversation, rate: 1 req/s}\n";
    INFO(text);
    const Scenario scenario = load_scenario_text(text, "test.yaml");
    const Deployment deployment = make_deployment(scenario);
    const PoolDeployment& pool = deployment.front();
    const LeastCost least = least_cost(pool);
    RandomStep step;
    for (int i = 0; i < kSteps; ++i) {
      draw_step(dice, pool, step);
      const double price = price_seconds(pool, step.shape);
      const double bound = least_seconds(least, step.shape);
      INFO("decodes " << step.shape.decodes << " over " << step.shape.decode_context << ", chunks "
                      << step.chunks.size() << ", tokens " << step.shape.tokens());
      REQUIRE(bound <= price * (1 + kRounding));
      REQUIRE(bound > 0);
      sum_of_shares += bound / price;
      ++steps;
    }
  }
  // Of use only if it is near: most of a price must be in it.
  CHECK(sum_of_shares / static_cast<double>(steps) > 0.5);
}

/// Traffic and engines that lead a run into its limits: prompts too long, outputs cut, KV caches that run
/// out, far too many requests.
std::string random_workload(Dice& dice) {
  const std::string generator = dice.name_of({"poisson", "constant", "gamma, burstiness: 0.4"});
  const std::string sigma = dice.name_of({"0.3", "0.8", "1.2"});
  return "workload: {generator: " + generator +
         ", rate: " + number(dice.one_of({1, 20, 100, 400, 4000, 4000})) +
         " req/s, requests: " + number(dice.between(30, 250)) +
         ", prompt: {distribution: log_normal, median: " + number(dice.one_of({8, 100, 700, 2500})) +
         ", sigma: " + sigma +
         "}, output: {distribution: log_normal, median: " + number(dice.one_of({1, 4, 40, 200})) +
         ", sigma: " + sigma + "}}\n";
}

std::string random_engine(Dice& dice) {
  const std::int64_t len = dice.one_of({1024, 4096, 8192});
  std::string text = "max_model_len: " + number(len) + ", max_num_seqs: " + number(dice.one_of({4, 32, 256}));
  const std::int64_t blocks = len / 16 * dice.one_of({1, 2, 6, 40}) + 100;
  text += ", num_gpu_blocks: " + number(blocks) + random_formats(dice);
  const std::string policy =
      dice.name_of({"chunked_prefill", "chunked_prefill", "continuous", "sarathi", "static", "orca"});
  if (policy == "chunked_prefill") {
    text += ", max_num_batched_tokens: " + number(dice.one_of({256, 2048}));
  } else if (policy == "continuous") {
    text += ", max_num_batched_tokens: " + number(len);
    text += dice.chance(50) ? ", preemption_mode: swap" : "";
  } else if (policy == "sarathi") {
    text += ", chunk_size: " + number(dice.one_of({256, 512}));
  }
  return text + ", policy: " + policy;
}

/// Everything but the number of units, which lays `units_of()` over it.
struct RandomPlan {
  std::string text;
  bool is_split = false;
  std::int64_t decodes = 1;  ///< decode replicas of a unit
};

RandomPlan random_plan(std::uint64_t seed) {
  Dice dice(seed, "tests/plan_bounds/runs");
  RandomPlan plan;
  const std::string model =
      dice.name_of({"llama-3.2-1b", "llama-3-8b", "llama-2-7b", "mistral-7b-v0.1", "qwen2.5-7b"});
  const std::string gpu = dice.name_of({"h100-sxm", "a100-80gb-sxm", "h200-sxm", "l40s"});
  const bool is_pipeline = dice.chance(15);
  plan.is_split = !is_pipeline && dice.chance(25);
  plan.decodes = dice.between(1, 2);
  plan.text = "model: " + model + "\nhardware: {gpu: " + gpu +
              ", tensor_parallel: " + number(dice.one_of({1, 1, 2})) +
              ", pipeline_parallel: " + number(is_pipeline ? 2 : 1) + "}\n";
  if (plan.is_split) {
    plan.text += "engine: {policy: disaggregated, system: " +
                 dice.name_of({"vllm-nixl", "distserve", "dynamo", "splitwise"}) +
                 ", max_model_len: 4096, num_gpu_blocks: " + number(dice.one_of({300, 2000})) + "}\n";
  } else {
    plan.text += "engine: {" + random_engine(dice) + "}\n";
  }
  plan.text += random_cost_model(dice) + random_workload(dice);
  plan.text += "metrics: {definitions: " + dice.name_of({"vllm", "vllm", "aiperf", "mlperf"}) +
               ", percentiles: " + dice.name_of({"exact", "exact", "sketch"}) + "}\n";
  return plan;
}

Scenario scenario_of(const RandomPlan& plan, std::int64_t units, std::int64_t seed) {
  std::string cluster = "cluster: {network: {model: ideal}, pools: {";
  cluster += plan.is_split ? "prefill: {replicas: " + number(units) +
                                 "}, decode: {replicas: " + number(units * plan.decodes) + "}}}\n"
                           : "mixed: {replicas: " + number(units) + "}}}\n";
  return load_scenario_text(plan.text + cluster + "seed: " + number(seed) + "\n", "test.yaml");
}

/// What runs of so many units came to: the mean over seeds of each statistic, with the limits of each
/// request that would be its limits.
struct Achieved {
  std::vector<Summary> summaries;
  double failed_share = 0;

  [[nodiscard]] std::optional<double> mean_ms(LatencyMetric metric, LatencyStatistic statistic) const {
    SloTargets slo;
    slo.targets.push_back({metric, statistic, seconds(1)});
    double sum = 0;
    for (const Summary& summary : summaries) {
      const SloVerdict verdict = evaluate(slo, summary).verdicts.front();
      if (!verdict.value) {
        return std::nullopt;
      }
      sum += *verdict.value;
    }
    return sum / static_cast<double>(summaries.size());
  }
};

Achieved run_units(const RandomPlan& plan, std::int64_t units, std::int64_t seeds,
                   const RequestLimits& limits = {}) {
  Achieved achieved;
  std::int64_t failed = 0;
  std::int64_t all = 0;
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    Scenario scenario = scenario_of(plan, units, seed);
    scenario.slo.request = limits;
    const Deployment deployment = make_deployment(scenario);
    MetricsRecorder recorder = make_recorder(scenario, false);
    Simulation simulation = make_simulation(scenario, deployment, recorder);
    simulation.run();
    achieved.summaries.push_back(summarize_run(scenario, deployment, simulation, recorder, {}, false));
    failed += achieved.summaries.back().failed;
    all += achieved.summaries.back().failed + achieved.summaries.back().completed;
  }
  achieved.failed_share = static_cast<double>(failed) / static_cast<double>(all);
  return achieved;
}

std::vector<std::vector<TrafficRequest>> traffic_by_seed(const RandomPlan& plan, std::int64_t seeds) {
  std::vector<std::vector<TrafficRequest>> traffic;
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    traffic.push_back(traffic_of(scenario_of(plan, 1, seed)).value());
  }
  return traffic;
}

/// A limit at so much of what was achieved, rounded up to a picosecond; none where nothing was.
void add_limit(const Achieved& achieved, LatencyMetric metric, LatencyStatistic statistic, double share,
               SloTargets& slo) {
  if (const std::optional<double> value = achieved.mean_ms(metric, statistic)) {
    const auto limit = static_cast<std::int64_t>(std::ceil(*value * share * kPicosecondsPerMillisecond));
    slo.targets.push_back({metric, statistic, picoseconds(std::max<std::int64_t>(limit, 1))});
  }
}

/// One to three of any kind.
SloTargets random_limits(const Achieved& achieved, double share, Dice& dice) {
  constexpr std::array kMetrics = {LatencyMetric::ttft, LatencyMetric::tpot, LatencyMetric::itl,
                                   LatencyMetric::e2el};
  constexpr std::array kStatistics = {LatencyStatistic::mean, LatencyStatistic::p50, LatencyStatistic::p90,
                                      LatencyStatistic::p95, LatencyStatistic::p99};
  SloTargets slo;
  for (std::int64_t i = dice.between(1, 3); i > 0; --i) {
    const LatencyMetric metric = kMetrics.at(static_cast<std::size_t>(dice.between(0, 3)));
    const LatencyStatistic statistic = kStatistics.at(static_cast<std::size_t>(dice.between(0, 4)));
    add_limit(achieved, metric, statistic, share, slo);
  }
  return slo;
}

/// Those that bound the work most closely, and some at random.
std::vector<SloTargets> limits_reached(const Achieved& achieved, Dice& dice) {
  std::vector<SloTargets> sets(4);
  add_limit(achieved, LatencyMetric::e2el, LatencyStatistic::p99, 1, sets[0]);
  add_limit(achieved, LatencyMetric::e2el, LatencyStatistic::p50, 1, sets[1]);
  add_limit(achieved, LatencyMetric::ttft, LatencyStatistic::p99, 1, sets[2]);
  sets[3] = sets[2];
  add_limit(achieved, LatencyMetric::tpot, LatencyStatistic::p99, 1, sets[3]);
  for (int i = 0; i < 3; ++i) {
    sets.push_back(random_limits(achieved, 1, dice));
  }
  return sets;
}

bool excludes(const PlanBound& bound, std::int64_t units) {
  return bound.is_impossible || bound.least_units > units;
}

std::string to_text(const SloTargets& slo) {
  std::string text;
  for (const SloTarget& target : slo.targets) {
    text += std::string(to_string(target.metric)) + "_" + std::string(to_string(target.statistic)) + " " +
            number(target.limit.count()) + " ps, ";
  }
  return text;
}

struct Tally {
  std::int64_t judged = 0, tight = 0, by_half = 0, by_tenth = 0;
};

/// Limits at exactly what so many units achieved: nobody may say that they cannot. At a part of it, many a
/// size is excluded.
void judge_plan(std::uint64_t seed, Tally& tally) {
  const RandomPlan plan = random_plan(seed);
  INFO("seed " << seed << "\n" << plan.text);
  Dice dice(seed, "tests/plan_bounds/limits");
  const std::int64_t units = dice.between(1, 3);
  const std::int64_t seeds = dice.one_of({1, 1, 2, 3});
  const Achieved achieved = run_units(plan, units, seeds);
  const std::vector<std::vector<TrafficRequest>> traffic = traffic_by_seed(plan, seeds);
  const Scenario scenario = scenario_of(plan, 1, 0);
  const Deployment unit = make_deployment(scenario);
  for (const SloTargets& slo : limits_reached(achieved, dice)) {
    const PlanBound bound = plan_bound(scenario, unit, slo, traffic, achieved.failed_share);
    INFO(to_text(slo) << units << " units, " << seeds << " seeds; least " << bound.least_units << ": "
                      << bound.reason);
    REQUIRE_FALSE(excludes(bound, units));
    tally.tight += bound.least_units == units ? 1 : 0;
    tally.judged += slo.targets.empty() ? 0 : 1;
  }
  const auto is_excluded_at = [&](double share) {
    const SloTargets slo = random_limits(achieved, share, dice);
    return excludes(plan_bound(scenario, unit, slo, traffic, 0), units);
  };
  tally.by_half += is_excluded_at(0.5) ? 1 : 0;
  tally.by_tenth += is_excluded_at(0.1) ? 1 : 0;
}

TEST_CASE("what a bound excludes is never reached") {
  constexpr std::int64_t kPlans = 30;
  Tally tally;
  for (std::uint64_t seed = 0; seed < kPlans; ++seed) {
    judge_plan(seed, tally);
  }
  CHECK(tally.judged > 5 * kPlans);
  CHECK(tally.tight > kPlans);  // one more would have been wrong
  CHECK(2 * tally.by_half > kPlans);
  CHECK(4 * tally.by_tenth > 3 * kPlans);
}

TEST_CASE("what a bound excludes is never reached by two thousand plans", "[.][nightly]") {
  Tally tally;
  for (std::uint64_t seed = 1000; seed < 3000; ++seed) {
    judge_plan(seed, tally);
  }
}

// As many requests as were good in a run can be.
TEST_CASE("no bound excludes the goodput that was reached") {
  for (std::uint64_t seed = 200; seed < 220; ++seed) {
    const RandomPlan plan = random_plan(seed);
    INFO("seed " << seed << "\n" << plan.text);
    Dice dice(seed, "tests/plan_bounds/goodput");
    const std::int64_t units = dice.between(1, 3);
    SloTargets slo;
    slo.request = {milliseconds(dice.one_of({50, 300, 2000})), std::nullopt, std::nullopt};
    if (dice.chance(60)) {
      slo.request.tpot = milliseconds(dice.one_of({10, 30, 100}));
    }
    if (dice.chance(40)) {
      slo.request.e2el = milliseconds(dice.one_of({500, 3000, 20000}));
    }
    const Achieved achieved = run_units(plan, units, 1, slo.request);
    slo.goodput_min = achieved.summaries.front().goodput_share;
    if (!slo.goodput_min || *slo.goodput_min == 0) {
      continue;
    }
    const Scenario scenario = scenario_of(plan, 1, 0);
    const PlanBound bound =
        plan_bound(scenario, make_deployment(scenario), slo, traffic_by_seed(plan, 1), achieved.failed_share);
    INFO(units << " units reached " << *slo.goodput_min << "; least " << bound.least_units << ": "
               << bound.reason);
    CHECK_FALSE(excludes(bound, units));
  }
}

bool meets(const std::string& text, const SloTargets& slo, std::int64_t units) {
  const ScenarioRun run = run_scenario(text, {"cluster.pools.mixed.replicas=" + number(units)});
  return evaluate(slo, run.summary).all_met();
}

struct Load {
  std::string name, workload;
  SloTargets slo;
  std::int64_t needed = 0;  ///< units that meet it, where one fewer does not
};

// Of use only if it spares the search most of the sizes: within twice of what the simulation needs.
TEST_CASE("the least number of units is near what a simulation needs") {
  const std::string head =
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\ncluster: {pools: {mixed: {replicas: 1}}}\n";
  const std::vector<Load> loads = {
      {"prompts",
       "{generator: poisson, rate: 60 req/s, requests: 3000, prompt: {distribution: uniform, "
       "min: 1000, max: 6000}, output: {distribution: fixed, tokens: 16}}",
       {{{LatencyMetric::ttft, LatencyStatistic::p99, seconds(2)}}, {}, {}},
       5},
      {"chat",
       "{preset: azure-conversation, rate: 200 req/s, requests: 8000}",
       {{{LatencyMetric::ttft, LatencyStatistic::p99, seconds(1)},
         {LatencyMetric::tpot, LatencyStatistic::p99, milliseconds(40)}},
        {},
        {}},
       10},
      {"answers",
       "{generator: poisson, rate: 60 req/s, requests: 4000, prompt: {distribution: fixed, tokens: "
       "200}, output: {distribution: log_normal, median: 400, sigma: 0.5}}",
       {{{LatencyMetric::e2el, LatencyStatistic::p90, seconds(20)}}, {}, {}},
       2},
  };
  for (const Load& load : loads) {
    const std::string text = head + "workload: " + load.workload + "\n";
    const Scenario scenario = load_scenario_text(text, "test.yaml");
    const PlanBound bound =
        plan_bound(scenario, make_deployment(scenario), load.slo, {traffic_of(scenario).value()}, 0);
    INFO(load.name << ": at least " << bound.least_units << ", " << bound.reason);
    REQUIRE(bound.least_units >= 2);
    CHECK_FALSE(meets(text, load.slo, bound.least_units - 1));
    CHECK(meets(text, load.slo, load.needed));
    CHECK_FALSE(meets(text, load.slo, load.needed - 1));
    CHECK(bound.least_units <= load.needed);
    CHECK(2 * bound.least_units >= load.needed);
  }
}

}  // namespace
}  // namespace inferometer
