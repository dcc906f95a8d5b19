// Bounds of plans against what is simulated: no price of a step is below its least cost, whatever the GPU,
// model, number formats, level and split; and what a bound excludes, a simulation does not reach.

#include "sim/study/plan/plan_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/scenario/deployment.hpp"
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
    const std::int64_t mean =
        dice.between(1, std::min(dice.one_of({2, 100, 2000, 1 << 20}), std::min(longest, window)));
    step.shape.decode_context = step.shape.decodes * mean;
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
  WARN("least cost over price, on average: " << sum_of_shares / static_cast<double>(steps));
  CHECK(sum_of_shares / static_cast<double>(steps) > 0.5);
}

}  // namespace
}  // namespace inferometer
