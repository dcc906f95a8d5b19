#include "tests/support/random_prices.hpp"

#include <algorithm>
#include <map>

#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/operators.hpp"
#include "hardware/profile.hpp"
#include "tests/support/sample_specs.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

/// Files are read once.
template <class Thing, Thing (*load)(const std::string&)>
const Thing& cached(const std::string& name) {
  static std::map<std::string, Thing> things;
  const auto found = things.find(name);
  return found != things.end() ? found->second : things.emplace(name, load(name)).first->second;
}

/// Dense, with full attention, windows on all layers or on some; or with latent attention.
ModelSpec draw_model(Dice& dice, std::int64_t longest) {
  if (dice.chance(15)) {
    return samples::deepseek_v3_dense();
  }
  ModelSpec model = cached<ModelSpec, load_model>(dice.name_of(
      {"llama-3-8b", "llama-2-7b", "llama-3.1-70b", "mistral-7b-v0.1", "qwen2.5-0.5b", "qwen3-32b"}));
  if (dice.chance(35)) {
    model.sliding_window = dice.between(1, longest);
    if (dice.chance(50)) {
      const std::int64_t period = dice.between(2, 6);
      for (std::int64_t layer = period - 1; layer < model.layers; layer += period) {
        model.full_layers.push_back(layer);
      }
    }
  }
  return model;
}

std::int64_t draw_split(Dice& dice, const ModelSpec& model) {
  const std::int64_t degree = dice.one_of({1, 1, 2, 4, 8});
  const bool kv_heads_fit = model.kv_heads % degree == 0 || degree % model.kv_heads == 0;
  return model.heads % degree == 0 && kv_heads_fit ? degree : 1;
}

// With x tokens of context, a decode step computes for 4 h e x FLOPs a layer and reads 4 h e + 4 kv e x
// bytes. With g = h / kv the roofs cross at x for
// compute efficiency = bandwidth efficiency g / (ridge (1 + g / x)).
void cross_attention_roofs(Dice& dice, std::int64_t longest, const ModelSpec& model, const GpuSpec& gpu,
                           std::int64_t degree, CostOptions& options) {
  const ModelShard local = shard(model, degree);
  const double group = static_cast<double>(local.heads) / static_cast<double>(local.kv_heads);
  const auto context = static_cast<double>(dice.between(2, longest));
  const double bandwidth = 0.5;
  options.attention_bandwidth_efficiency = bandwidth;
  options.attention_compute_efficiency =
      std::min(1.0, bandwidth * group / gpu.ridge_point() / (1 + group / context));
}

// The host takes as long as the GPU does for a batch of some length.
void cross_host(Dice& dice, std::int64_t longest, const PricerLimits& limits, const StepPricer& without_host,
                CostOptions& options) {
  const std::int64_t decodes = dice.between(1, std::min<std::int64_t>(limits.max_rows, 8));
  const StepShape shape{decodes, decodes * dice.between(2, longest), decodes, {}};
  options.host_overlap = true;
  options.host_fixed = without_host.price(shape).total();
  options.host_per_sequence = {};
}

CostOptions draw_options(Dice& dice) {
  CostOptions options;
  options.level = dice.chance(40) ? CostLevel::datasheet : CostLevel::roofline;
  options.host_fixed = microseconds(dice.one_of({0, 100, 500, 20'000}));
  options.host_per_sequence = microseconds(dice.one_of({0, 5}));
  options.host_overlap = dice.chance(40);
  options.host_per_prefill_token = nanoseconds(options.host_overlap ? 250 : 0);
  options.cuda_graphs = dice.chance(60);
  return options;
}

/// Of a model whose options are drawn; makes the pricers of one deployment.
struct PricedModel {
  ModelSpec model;
  GpuSpec gpu;
  Parallelism parallelism;

  [[nodiscard]] std::unique_ptr<StepPricer> pricer(const CostOptions& options,
                                                   const PricerLimits& limits) const {
    const Profile profile = cached<Profile, load_profile>(gpu.name);
    if (options.level != CostLevel::calibrated) {
      return make_roofline_pricer(model, gpu, profile, parallelism, options, limits);
    }
    const std::string file = *kernel_profile_file(gpu.name, options.kernels);
    return make_calibrated_pricer(model, gpu, cached<KernelProfile, read_kernel_profile>(file), profile,
                                  parallelism, options, limits);
  }
};

std::string describe(const PricedModel& priced, const CostOptions& options) {
  const Parallelism& parallelism = priced.parallelism;
  return std::to_string(priced.model.layers) + " layers (" + std::to_string(priced.model.windowed_layers()) +
         " with a window) of " + priced.model.name + " on " + std::to_string(parallelism.tensor) + " x " +
         priced.gpu.name + ", " + std::to_string(parallelism.attention_data) + " ranks, " +
         std::to_string(parallelism.expert) + " groups of experts, " +
         std::to_string(parallelism.tensor_in_node) + " in a node, straggler " +
         std::to_string(parallelism.straggler) + ", " + std::string(to_string(options.level)) + ", host_ps " +
         std::to_string(options.host_fixed.count()) + " + " +
         std::to_string(options.host_per_sequence.count()) + (options.host_overlap ? " overlapped" : "") +
         (options.cuda_graphs ? ", graphs" : "") + ", attention " +
         std::to_string(options.attention_compute_efficiency.value_or(0)) + "/" +
         std::to_string(options.attention_bandwidth_efficiency.value_or(0));
}

/// Now and then experts in place of feed-forward networks, dealt out or not, with one rank of attention or
/// several in a node.
void draw_experts(Dice& dice, PricedModel& priced) {
  if (!dice.chance(25)) {
    return;
  }
  MixtureOfExperts moe;
  moe.experts = std::int64_t{8} << dice.between(0, 4);
  moe.experts_per_token = dice.between(1, 8);
  moe.ffn = 64 * dice.between(1, 100);
  moe.shared_ffn = dice.chance(50) ? moe.ffn : 0;
  moe.skew = dice.chance(20) ? 0.8 : 0;
  if (dice.chance(30)) {
    moe.dense_layers = {0};
  }
  Parallelism& parallelism = priced.parallelism;
  const std::int64_t ranks = std::int64_t{1} << dice.between(0, 3);
  if (!parallelism.spans_nodes() && ranks * parallelism.tensor <= kMaxTensorParallel) {
    parallelism.attention_data = ranks;
  }
  const std::int64_t gpus = parallelism.split().gpus();
  if (dice.chance(50) && moe.experts % gpus == 0) {
    parallelism.expert = gpus;
  }
  priced.model.moe = moe;
}

/// Now and then a group over two nodes, a slow GPU, or the prices of one stage of a pipeline.
void draw_parallelism(Dice& dice, PricedModel& priced) {
  Parallelism& parallelism = priced.parallelism;
  parallelism = in_one_node(draw_split(dice, priced.model));
  if (parallelism.tensor > 1 && dice.chance(20)) {
    parallelism.tensor_in_node = parallelism.tensor / 2;
    parallelism.between_nodes = GpuLink{BytesPerSecond(25e9), microseconds(5)};
  }
  draw_experts(dice, priced);
  if (dice.chance(20)) {
    parallelism.straggler = dice.chance(50) ? 1.01 : 1.7;
  }
  if (dice.chance(15)) {
    const std::int64_t stages = dice.between(2, 4);
    priced.model = stages_of(priced.model, stages)[static_cast<std::size_t>(dice.between(0, stages - 1))];
  }
}

/// Measured kernels, in one number format or another.
void draw_calibrated(Dice& dice, PricedModel& priced, CostOptions& options) {
  options.level = CostLevel::calibrated;
  options.kernels = dice.name_of({"vllm", "tensorrt-llm"});
  if (dice.chance(30)) {
    options.resample = static_cast<std::uint64_t>(dice.between(0, 31));
  }
  priced.model = quantized(std::move(priced.model), priced.gpu,
                           dice.name_of({"none", "fp8", "fp8_block", "int4"}), dice.name_of({"auto", "fp8"}));
}

RandomPrices round_prices(Dice& dice, std::int64_t longest) {
  RandomPrices prices;
  StepCosts costs{dice.between(1, 20), dice.between(0, 3), dice.between(0, 2), dice.between(0, 2),
                  dice.between(0, 2)};
  if (dice.chance(30)) {
    prices.window = dice.between(1, longest);
    costs.per_window_context = dice.between(0, 2);
  }
  prices.pricer = make_test_pricer(costs);
  prices.text = "round prices";
  return prices;
}

}  // namespace

RandomPrices random_prices(Dice& dice, std::int64_t longest, const PricerLimits& limits) {
  if (dice.chance(15)) {
    return round_prices(dice, longest);
  }
  PricedModel priced{
      draw_model(dice, longest),
      cached<GpuSpec, load_gpu>(dice.name_of({"a100-80gb-sxm", "h100-sxm", "h200-sxm", "l4", "mi300x"})),
      {}};
  draw_parallelism(dice, priced);
  const std::int64_t degree = priced.parallelism.tensor;
  CostOptions options = draw_options(dice);
  if (dice.chance(35)) {
    options.level = CostLevel::roofline;
    cross_attention_roofs(dice, longest, priced.model, priced.gpu, degree, options);
  } else if (dice.chance(40) && !kernel_profile_libraries(priced.gpu.name).empty()) {
    draw_calibrated(dice, priced, options);
  }
  if (dice.chance(25)) {
    CostOptions hostless = options;
    hostless.host_fixed = hostless.host_per_sequence = {};
    cross_host(dice, longest, limits, *priced.pricer(hostless, {1, 1}), options);
  }
  return {priced.pricer(options, limits), priced.model.sliding_window,
          WorkTotals(priced.model, priced.parallelism.split()), describe(priced, options),
          priced.parallelism.attention_data};
}

}  // namespace inferometer::testing
