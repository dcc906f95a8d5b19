// Layers with a sliding window beside layers without, and latent attention, at all levels of prices: parts
// against models that have one kind of layers alone, lines against single prices, tables against none.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/parallelism.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/work_totals.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kWindow = 300;
constexpr PricerLimits kLimits{.max_tokens = 512, .max_rows = 64, .max_context = 8192};

std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// 24 layers with the window, 8 without.
ModelSpec mixed_model() {
  ModelSpec model = samples::llama_3_8b();
  model.sliding_window = kWindow;
  for (std::int64_t layer = 3; layer < model.layers; layer += 4) {
    model.full_layers.push_back(layer);
  }
  return model;
}

ModelSpec latent_model() {
  ModelSpec model = samples::deepseek_v3_dense();
  model.layers = 7;
  return model;
}

KernelProfile jumping_profile() {
  std::vector<KernelFit> fits = samples::whole_profile().fits;
  fits.push_back(samples::mla_prefill_fit());
  fits.push_back(samples::mla_decode_fit());
  for (KernelFit& fit : fits) {
    if (fit.family == KernelFamily::gemm) {
      fit.trees = samples::cut_at(samples::gemm_rows, 200, 0.1, 0.3);
    } else if (fit.family == KernelFamily::mla_decode) {
      fit.trees = samples::cut_at(1, 300, -0.2, 0.1);  // by the logarithm of the context
    } else if (fit.family == KernelFamily::mla_prefill) {
      fit.trees = samples::cut_at(samples::prefill_length, 700, 0.2, -0.1);
    }
  }
  return samples::profile_of(fits);
}

struct Level {
  std::string name;
  std::unique_ptr<StepPricer> pricer;
};

std::vector<Level> pricers_of(const ModelSpec& model, std::int64_t degree, const CostOptions& options,
                              const PricerLimits& limits = kLimits) {
  CostOptions datasheet = options;
  datasheet.level = CostLevel::datasheet;
  CostOptions roofline = options;
  roofline.level = CostLevel::roofline;
  const Parallelism group = in_one_node(degree);
  std::vector<Level> levels;
  levels.push_back({"datasheet", make_roofline_pricer(model, samples::measured_gpu(),
                                                      samples::round_profile(), group, datasheet, limits)});
  levels.push_back({"roofline", make_roofline_pricer(model, samples::measured_gpu(), samples::round_profile(),
                                                     group, roofline, limits)});
  levels.push_back({"calibrated", make_calibrated_pricer(model, samples::measured_gpu(), jumping_profile(),
                                                         samples::round_profile(), group, options, limits)});
  return levels;
}

/// A step whose contexts may be anything that sequences of this model have.
struct RandomStep {
  std::vector<ChunkShape> chunks;
  StepShape shape;
  ContextTokens growth;

  RandomStep(RandomStream& random, std::int64_t window) {
    for (std::int64_t count = between(random, 0, 2); count > 0; --count) {
      chunks.push_back({between(random, 1, 250), between(random, 0, 1) * between(random, 0, 3000)});
    }
    shape.decodes = between(random, chunks.empty() ? 1 : 0, 80);
    const std::int64_t longest = between(random, 1, 2) == 1 ? 400 : 20'000;
    for (std::int64_t i = 0; i < shape.decodes; ++i) {
      const std::int64_t context = between(random, 1, longest);
      shape.add_context({context, std::min(context, window)});
      growth += {1, context < window ? 1 : 0};
    }
    shape.sampled_rows = shape.decodes;
    shape.chunks = chunks;
  }

  /// So many steps later; windows that are not full yet stay so.
  void advance(std::int64_t steps) {
    for (ChunkShape& chunk : chunks) {
      chunk.past += chunk.tokens * steps;
    }
    shape.add_context(growth * steps);
  }
};

CostOptions options_of(RandomStream& random) {
  CostOptions options;
  options.host_overlap = between(random, 0, 1) == 1;
  options.host_fixed = milliseconds(between(random, 0, 1) * between(random, 1, 40));
  return options;
}

TEST_CASE("mixed attention: layers of two kinds are parts, one kind is the model") {
  const std::vector<AttentionPart> parts = attention_parts(mixed_model());
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].layers.layers == 8);
  CHECK_FALSE(parts[0].is_windowed());
  CHECK(parts[0].decode_name == "decode attention");
  CHECK(parts[1].layers.layers == 24);
  CHECK(parts[1].layers.sliding_window == kWindow);
  CHECK(parts[1].decode_name == "windowed decode attention");
  ModelSpec alike = samples::llama_3_8b();
  CHECK(attention_parts(alike).size() == 1);
  CHECK_FALSE(attention_parts(alike)[0].is_windowed());
  alike.sliding_window = kWindow;
  CHECK(attention_parts(alike).size() == 1);
  CHECK(attention_parts(alike)[0].is_windowed());
  CHECK(attention_parts(alike)[0].prefill_name == "prefill attention");
  // A stage of a pipeline may have all its layers alike.
  const std::vector<ModelSpec> stages = stages_of(mixed_model(), 16);
  CHECK(attention_parts(stages[0])[0].layers.layers == 2);
  CHECK(attention_parts(stages[0]).size() == 1);
  CHECK(attention_parts(stages[1]).size() == 2);
}

TEST_CASE("mixed attention: each part does the work of its layers over its own context") {
  const ModelSpec model = mixed_model();
  const ChunkShape chunk{200, 250};
  const StepShape shape{
      .decodes = 3, .decode_context = 5000, .chunks = {&chunk, 1}, .decode_window_context = 3 * kWindow};
  const std::vector<Operator> list = attention_operators(model, 2, shape);
  REQUIRE(list.size() == 4);
  // 16 heads of 128 on a GPU: 4 x 16 x 128 FLOPs a pair.
  const double full_pairs = 200.0 * 250 + 200.0 * 201 / 2;
  // The first 50 tokens see all before them, the others a window.
  const double windowed_pairs = 50.0 * 250 + 50.0 * 51 / 2 + 150.0 * kWindow;
  CHECK(list[0].repeats == 8);
  CHECK(list[0].flops.count() == 8192 * full_pairs);
  CHECK(list[1].name == "windowed prefill attention");
  CHECK(list[1].repeats == 24);
  CHECK(list[1].flops.count() == 8192 * windowed_pairs);
  CHECK(list[2].flops.count() == 8192.0 * 5000);
  CHECK(list[3].name == "windowed decode attention");
  CHECK(list[3].flops.count() == 8192.0 * 3 * kWindow);
  CHECK(list[3].call->axes[5] == kWindow);
  CHECK(list[2].call->axes[5] == 0);
}

TEST_CASE("mixed attention: a model of a third of one kind costs a third of what each kind does alone") {
  // Attention alone: what the price grows by from a step of the same tokens and little context.
  ModelSpec full = samples::llama_3_8b();
  full.layers = 30;
  ModelSpec windowed = full;
  windowed.sliding_window = kWindow;
  ModelSpec mixed = windowed;
  for (std::int64_t layer = 0; layer < 10; ++layer) {
    mixed.full_layers.push_back(3 * layer);
  }
  const auto growth_ps = [](const StepPricer& pricer, std::int64_t mean) {
    const auto at = [&](std::int64_t context) {
      return pricer.price({.decodes = 32,
                           .decode_context = 32 * context,
                           .sampled_rows = 32,
                           .decode_window_context = 32 * std::min(context, kWindow)});
    };
    return static_cast<double>((at(mean).total() - at(2).total()).count());
  };
  for (const std::int64_t mean : {100, 300, 5000}) {
    for (std::size_t level = 0; level < 3; ++level) {
      const double of_full = growth_ps(*pricers_of(full, 1, {})[level].pricer, mean);
      const double of_windowed = growth_ps(*pricers_of(windowed, 1, {})[level].pricer, mean);
      const double of_mixed = growth_ps(*pricers_of(mixed, 1, {})[level].pricer, mean);
      CAPTURE(mean, level);
      CHECK(of_mixed == Approx(of_full / 3 + of_windowed * 2 / 3).epsilon(2e-5));
    }
  }
}

TEST_CASE("mixed and latent attention: lines are the single prices of thousands of steps") {
  RandomStream random(17, "steps");
  std::int64_t compared = 0;
  for (const ModelSpec& model : {mixed_model(), latent_model()}) {
    for (const std::int64_t degree : {1, 8}) {
      for (int draw = 0; draw < 4; ++draw) {
        for (const Level& level : pricers_of(model, degree, options_of(random))) {
          for (int i = 0; i < 60; ++i) {
            RandomStep step(random, model.sliding_window.value_or(0));
            const StepLine line = *level.pricer->line(step.shape, step.growth);
            REQUIRE(line.steps >= 1);
            CHECK(line.growth.total() >= Duration());
            const std::int64_t last = std::min<std::int64_t>(line.steps, 5000) - 1;
            std::int64_t at = 0;
            for (const std::int64_t j : {std::int64_t{0}, std::min<std::int64_t>(1, last), last / 2, last}) {
              step.advance(j - at);
              at = j;
              CAPTURE(model.name, level.name, degree, j, line.steps);
              REQUIRE(line.first + line.growth * j == level.pricer->price(step.shape));
              ++compared;
            }
          }
        }
      }
    }
  }
  CHECK(compared > 5000);
}

TEST_CASE("mixed and latent attention: lines of the roofline end where the price bends") {
  // At 200 FLOPs a byte, with queries and outputs of few bytes, long contexts of latent decodes are bound by
  // compute and short ones by bandwidth; grouped heads get there with a slower unit.
  RandomStream random(19, "steps");
  CostOptions options;
  options.level = CostLevel::datasheet;
  std::int64_t bends = 0;
  for (const ModelSpec& model : {mixed_model(), latent_model()}) {
    GpuSpec gpu = samples::round_gpu();
    gpu.bf16_peak = FlopsPerSecond(model.latent ? 200e12 : 3.9e12);
    const auto pricer =
        make_roofline_pricer(model, gpu, samples::round_profile(), in_one_node(1), options, kLimits);
    for (int i = 0; i < 300; ++i) {
      RandomStep step(random, model.sliding_window.value_or(0));
      const StepLine line = *pricer->line(step.shape, step.growth);
      // Where a window begins to count in a chunk, a line may end before it has to.
      if (line.steps < 1'000'000 && (step.chunks.empty() || !model.sliding_window)) {
        step.advance(line.steps);
        CHECK_FALSE(line.first + line.growth * line.steps == pricer->price(step.shape));
        ++bends;
      }
    }
  }
  CHECK(bends > 20);
}

TEST_CASE("mixed and latent attention: tables change no price and operators add up to it") {
  RandomStream random(23, "steps");
  for (const ModelSpec& model : {mixed_model(), latent_model()}) {
    CostOptions options;
    options.cuda_graphs = false;  // whose sizes go by the limits
    const std::vector<Level> untabled = pricers_of(model, 2, options, {1, 1});
    const std::vector<Level> tabled = pricers_of(model, 2, options);
    for (int i = 0; i < 200; ++i) {
      const RandomStep step(random, model.sliding_window.value_or(0));
      for (std::size_t level = 0; level < tabled.size(); ++level) {
        const StepPricer& pricer = *tabled[level].pricer;
        const StepCost price = pricer.price(step.shape);
        CHECK(untabled[level].pricer->price(step.shape) == price);
        Duration sum;
        for (const OperatorTime& one : pricer.operator_times(step.shape)) {
          sum += one.time;
        }
        CHECK((sum == price.total() - price.host));
      }
    }
  }
}

/// Coefficients of attention are whole picoseconds, of ten thousand or more.
bool near(Duration a, Duration b, double relative) {
  const auto difference = static_cast<double>((a - b).count());
  return std::abs(difference) <= relative * static_cast<double>(b.count()) + 1000;
}

TEST_CASE("mixed and latent attention: the price is the roofline of the step's operators") {
  RandomStream random(29, "steps");
  const GpuSpec gpu = samples::measured_gpu();
  for (const ModelSpec& model : {mixed_model(), latent_model()}) {
    for (const std::int64_t degree : {1, 8}) {
      CostOptions options;
      options.level = CostLevel::roofline;
      options.cuda_graphs = false;
      options.host_fixed = options.host_per_sequence = {};
      const Roofline roofline(gpu, samples::round_profile(), CostLevel::roofline, in_one_node(degree));
      const auto pricer =
          make_roofline_pricer(model, gpu, samples::round_profile(), in_one_node(degree), options, kLimits);
      for (int i = 0; i < 100; ++i) {
        const RandomStep step(random, model.sliding_window.value_or(0));
        Duration sum;
        for (const Operator& part : step_operators(model, degree, step.shape)) {
          sum += roofline.time(part).total() * part.repeats;
        }
        CAPTURE(model.name, degree, i);
        CHECK(near(pricer->price(step.shape).total(), sum, 1e-4));
      }
    }
  }
}

TEST_CASE("latent attention: a batch of whole prompts and a decode take what measured kernels do") {
  const ModelSpec model = latent_model();
  const GpuSpec gpu = samples::measured_gpu();
  CostOptions options;
  options.cuda_graphs = false;
  options.host_fixed = options.host_per_sequence = {};
  KernelProfile profile = jumping_profile();
  const Roofline fallback(gpu, samples::round_profile(), CostLevel::roofline, in_one_node(1));
  const CalibratedKernels kernels(profile, gpu, fallback, std::nullopt);
  const auto pricer =
      make_calibrated_pricer(model, gpu, profile, samples::round_profile(), in_one_node(1), options, kLimits);
  const auto operators_s = [&](const StepShape& shape) {
    double seconds = 0;
    for (const Operator& part : step_operators(model, 1, shape)) {
      seconds += to_seconds(kernels.time(part).total()) * static_cast<double>(part.repeats);
    }
    return seconds;
  };
  // At knots: a power of two of tokens in each prompt and of tokens in all.
  for (const std::int64_t length : {16, 64, 512}) {
    const std::vector<ChunkShape> prompts(2, ChunkShape{length, 0});
    const StepShape shape{.sampled_rows = 2, .chunks = prompts};
    CHECK(to_seconds(pricer->price(shape).total()) == Approx(operators_s(shape)).epsilon(1e-6));
  }
  for (const std::int64_t context : {16, 256, 4096}) {
    const StepShape shape{.decodes = 32, .decode_context = 32 * context, .sampled_rows = 32};
    CHECK(to_seconds(pricer->price(shape).total()) == Approx(operators_s(shape)).epsilon(1e-6));
  }
}

TEST_CASE("latent attention: chunks make the keys and values of their past again") {
  // A key more: 512 + 32,768 activations through 0.8 of 1 TB/s in the up-projection, and as many pairs as
  // there are tokens at a quarter of 1000 TFLOPS, in each of seven layers.
  ModelSpec model = latent_model();
  CostOptions options;
  options.level = CostLevel::roofline;
  options.host_fixed = options.host_per_sequence = {};
  const auto pricer = make_roofline_pricer(model, samples::measured_gpu(), samples::round_profile(),
                                           in_one_node(1), options, kLimits);
  const auto seconds = [&](std::int64_t past) {
    const ChunkShape chunk{1024, past};
    return to_seconds(pricer->price({.sampled_rows = 1, .chunks = {&chunk, 1}}).total());
  };
  const double of_key = 2.0 * (512 + 32'768) / 0.8e12;
  const double of_pair = 81'920.0 / 0.25e15;
  CHECK(seconds(20'000) - seconds(10'000) == Approx(7 * 10'000 * (of_key + 1024 * of_pair)).epsilon(1e-5));
}

TEST_CASE("mixed and latent attention: totals of a run are the sums over the operators of its steps") {
  RandomStream random(31, "steps");
  for (const ModelSpec& model :
       {samples::odd_mixed_model(kWindow), samples::odd_latent_model(), samples::odd_latent_model(0)}) {
    for (const std::int64_t degree : {1, 2}) {
      WorkTotals at_once(model, degree);
      Flops flops;
      Bytes bytes;
      for (int i = 0; i < 50; ++i) {
        RandomStep step(random, kWindow);
        const std::int64_t steps = between(random, 1, 4);
        at_once.add(step.shape, steps, step.growth);
        for (std::int64_t j = 0; j < steps; ++j) {
          const std::vector<Operator> operators = step_operators(model, degree, step.shape);
          const StepWork alone = at_once.of_step(step.shape);
          CHECK(static_cast<double>(alone.flops) == total_flops(operators).count());
          CHECK((alone.hbm_bytes == total_hbm_bytes(operators).count()));
          flops += total_flops(operators);
          bytes += total_hbm_bytes(operators);
          step.advance(1);
        }
      }
      CHECK(at_once.flops() == flops);
      CHECK(at_once.hbm_bytes() == bytes);
    }
  }
}

}  // namespace
}  // namespace inferometer
