// Prices of a pipeline's stages beside those of the whole model, and of replicas with a slow GPU.

#include "costmodel/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "costmodel/roofline.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/sample_kernels.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

using Stages = std::vector<std::shared_ptr<const StepPricer>>;

constexpr PricerLimits kLimits{.max_tokens = 512, .max_rows = 64};
constexpr GpuLink kLink{BytesPerSecond(50e9), microseconds(5)};

CostOptions at_level(CostLevel level) {
  CostOptions options;
  options.level = level;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  return options;
}

/// A model whose layers do not come out even, and a GPU whose rates are powers of two: times in picoseconds
/// are whole numbers, so that nothing is rounded.
ModelSpec seven_layers() {
  ModelSpec model = samples::odd_model();
  model.layers = 7;
  return model;
}
GpuSpec exact_gpu() {
  GpuSpec gpu = samples::round_gpu();
  gpu.bf16_peak = FlopsPerSecond(4096);
  gpu.hbm_bandwidth = BytesPerSecond(4096);
  return gpu;
}

Parallelism spread(std::int64_t tensor, std::int64_t pipeline) {
  Parallelism parallelism = in_one_node(tensor);
  parallelism.pipeline = pipeline;
  return parallelism;
}

struct RandomStep {
  std::vector<ChunkShape> chunks;
  StepShape shape;
};

RandomStep random_step(RandomStream& random) {
  const auto below = [&random](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  RandomStep step;
  for (std::int64_t count = below(3); count > 0; --count) {
    step.chunks.push_back({1 + below(300), below(2) * below(2000)});
  }
  step.shape.decodes = below(60) + (step.chunks.empty() ? 1 : 0);
  step.shape.decode_context = step.shape.decodes * (1 + below(2000));
  step.shape.sampled_rows = step.shape.decodes + below(1 + step.chunks.size());
  step.shape.chunks = step.chunks;
  return step;
}

StepCost sum_of(const Stages& stages, const StepShape& shape) {
  StepCost sum;
  for (const auto& stage : stages) {
    sum = sum + stage->price(shape);
  }
  return sum;
}

/// What the stages send and gather that one stage would not. `tokens`: as run, padding included.
Duration hops(const ModelSpec& model, const GpuSpec& gpu, CostLevel level, const Parallelism& parallelism,
              std::int64_t tokens) {
  const Roofline roofline(gpu, samples::round_profile(), level, parallelism);
  Duration sum;
  for (const ModelSpec& stage : stages_of(model, parallelism.pipeline)) {
    for (const Operator& part : token_operators(stage, parallelism.tensor, tokens)) {
      if (part.name == "send to next stage" || part.name == "hidden states gather") {
        sum += roofline.time(part).total() * part.repeats;
      }
    }
  }
  return sum;
}

Stages roofline_stages(const ModelSpec& model, const GpuSpec& gpu, const Parallelism& parallelism,
                       const CostOptions& options) {
  Stages stages;
  Parallelism group = parallelism;
  group.pipeline = 1;
  for (const ModelSpec& stage : stages_of(model, parallelism.pipeline)) {
    stages.push_back(make_roofline_pricer(stage, gpu, samples::round_profile(), group, options, kLimits));
  }
  return stages;
}

/// The line is the price, step by step.
void check_line(const StepPricer& pricer, const StepShape& first, std::int64_t context_growth) {
  const std::optional<StepLine> line = pricer.line(first, {context_growth, 0});
  REQUIRE(line.has_value());
  REQUIRE(line->first == pricer.price(first));
  REQUIRE(line->growth.total() >= Duration());
  std::vector<ChunkShape> chunks;
  for (const std::int64_t step :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{17}, std::min<std::int64_t>(line->steps, 1000) - 1}) {
    if (step < 0 || step >= line->steps) {
      continue;
    }
    chunks.assign(first.chunks.begin(), first.chunks.end());
    for (ChunkShape& chunk : chunks) {
      chunk.past += step * chunk.tokens;
    }
    StepShape shape = first;
    shape.add_context({step * context_growth, 0});
    shape.chunks = chunks;
    REQUIRE(line->first + line->growth * step == pricer.price(shape));
  }
}

TEST_CASE("stages cost together what the model costs but for what they send: exactly") {
  RandomStream random(1, "shapes");
  const ModelSpec model = seven_layers();
  CostOptions options = at_level(CostLevel::datasheet);
  options.cuda_graphs = false;
  for (const std::int64_t tensor : {1, 2}) {
    const auto whole = make_roofline_pricer(model, exact_gpu(), samples::round_profile(), in_one_node(tensor),
                                            options, kLimits);
    for (const std::int64_t count : {1, 2, 3, 7}) {
      const Parallelism parallelism = spread(tensor, count);
      const Stages stages = roofline_stages(model, exact_gpu(), parallelism, options);
      REQUIRE(static_cast<std::int64_t>(stages.size()) == count);
      for (int i = 0; i < 50; ++i) {
        const RandomStep step = random_step(random);
        const StepCost together = sum_of(stages, step.shape);
        StepCost expected = whole->price(step.shape);
        expected.communication +=
            hops(model, exact_gpu(), CostLevel::datasheet, parallelism, step.shape.tokens());
        CAPTURE(tensor, count, step.shape.decodes, step.chunks.size());
        REQUIRE(together == expected);
      }
    }
  }
}

TEST_CASE("a send worked by hand") {
  // Ten tokens of llama-3-8b: hidden states and residual of 81,920 B each, over 100 GB/s.
  CostOptions options = at_level(CostLevel::datasheet);
  options.cuda_graphs = false;
  const StepShape shape{.decodes = 10, .decode_context = 1000, .sampled_rows = 10};
  Parallelism parallelism = spread(1, 2);
  const auto sent = [&] {
    const Stages stages = roofline_stages(samples::llama_3_8b(), samples::round_gpu(), parallelism, options);
    CHECK(stages[1]->price(shape).communication == Duration());
    return stages[0]->price(shape).communication;
  };
  CHECK(sent() == picoseconds(1'638'400));
  parallelism.between_nodes = kLink;
  parallelism.stages_in_node = false;
  CHECK(sent() == microseconds(5) + picoseconds(3'276'800));
}

TEST_CASE("at the fitted level stages start as many kernels as the model") {
  const StepShape shape{.decodes = 10, .decode_context = 1000, .sampled_rows = 10};
  const ModelSpec model = samples::llama_3_8b();
  const CostOptions options = at_level(CostLevel::roofline);
  const StepCost whole =
      make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(), {}, options, kLimits)
          ->price(shape);
  const StepCost together =
      sum_of(roofline_stages(model, samples::round_gpu(), spread(1, 4), options), shape);
  CHECK(together.latency == whole.latency);
  // Attention is rounded for all layers of a stage: rates of ten sequences and of a thousand tokens.
  CHECK(std::abs((together.bandwidth - whole.bandwidth).count()) <= 4 * 1010);
  // Sixteen tokens as the graph runs them: 262,144 B over 77 % of 100 GB/s, and 10 us, three times.
  const Duration sends = (microseconds(10) + picoseconds(3'404'468)) * 3;
  CHECK(std::abs((together.communication - sends).count()) <= 3);
  CHECK(together.extrapolated == together.communication);
}

TEST_CASE("one stage is the plain pricer") {
  CostOptions options;
  options.level = CostLevel::calibrated;
  const ModelSpec model = load_model("llama-3-8b");
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
    options.level = level;
    const auto plain = make_step_pricer(model, load_gpu("h100-sxm"), in_one_node(2), options, kLimits);
    const Stages stages = make_stage_pricers(model, load_gpu("h100-sxm"), in_one_node(2), options, kLimits);
    REQUIRE(stages.size() == 1);
    RandomStream random(2, "shapes");
    for (int i = 0; i < 30; ++i) {
      const RandomStep step = random_step(random);
      CHECK(stages.front()->price(step.shape) == plain->price(step.shape));
    }
    CHECK(stages.front()->basis().notes == plain->basis().notes);
  }
}

TEST_CASE("host time is that of the last stage alone") {
  CostOptions options = at_level(CostLevel::roofline);
  options.host_fixed = microseconds(300);
  options.host_per_sequence = microseconds(2);
  const StepShape shape{.decodes = 10, .decode_context = 1000, .sampled_rows = 10};
  for (const bool overlap : {false, true}) {
    options.host_overlap = overlap;
    const Stages stages =
        make_stage_pricers(samples::llama_3_8b(), samples::round_gpu(), spread(1, 4), options, kLimits);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      CHECK(stages[stage]->price(shape).host == Duration());
    }
    if (!overlap) {
      CHECK(stages[3]->price(shape).host == microseconds(320));
    }
  }
}

TEST_CASE("lines of stages and of slow GPUs are their prices") {
  RandomStream random(3, "shapes");
  const ModelSpec model = load_model("llama-3-8b");
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
    for (const auto& [straggler, step_time] :
         {std::pair(1.0, 1.0), {1.1, 1.0}, {1.7320508, 1.0}, {1.0, 0.95}, {1.1, 1.05}}) {
      CostOptions options = at_level(level);
      options.host_fixed = milliseconds(2);
      options.host_overlap = straggler > 1;
      Parallelism parallelism = spread(2, 3);
      parallelism.straggler = straggler;
      parallelism.step_time = step_time;
      for (const auto& stage :
           make_stage_pricers(model, load_gpu("h100-sxm"), parallelism, options, kLimits)) {
        for (int i = 0; i < 30; ++i) {
          const RandomStep step = random_step(random);
          check_line(*stage, step.shape, step.shape.decodes);
        }
      }
    }
  }
}

/// So many times as long, but for what rounding adds.
void check_slowed(Duration slow, Duration plain, double straggler) {
  CAPTURE(slow.count(), plain.count(), straggler);
  CHECK(static_cast<double>(slow.count()) ==
        Approx(static_cast<double>(plain.count()) * straggler).epsilon(1e-4).margin(1e5));
}

TEST_CASE("a slow GPU takes longer for everything but the host") {
  RandomStream random(4, "shapes");
  const ModelSpec model = load_model("llama-3-8b");
  CostOptions options;
  options.host_fixed = microseconds(300);
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
    options.level = level;
    for (const bool two_nodes : {false, true}) {
      Parallelism parallelism = in_one_node(2);
      if (two_nodes) {
        parallelism = {.tensor = 4, .tensor_in_node = 2, .between_nodes = kLink, .in_node = {}};
      }
      const auto plain = make_step_pricer(model, load_gpu("h100-sxm"), parallelism, options, kLimits);
      parallelism.straggler = 1.25;
      const auto slow = make_step_pricer(model, load_gpu("h100-sxm"), parallelism, options, kLimits);
      for (int i = 0; i < 50; ++i) {
        const RandomStep step = random_step(random);
        const StepCost a = plain->price(step.shape);
        const StepCost b = slow->price(step.shape);
        check_slowed(b.compute, a.compute, 1.25);
        check_slowed(b.bandwidth, a.bandwidth, 1.25);
        check_slowed(b.latency, a.latency, 1.25);
        check_slowed(b.communication, a.communication, 1.25);
        check_slowed(b.extrapolated, a.extrapolated, 1.25);
        CHECK(b.host == a.host);
      }
    }
  }
}

// All parts are multiplied, the host's that shows beside the GPU's time as well: a h - a g = a (h - g).
TEST_CASE("steps that take longer or shorter do so in every part, host time included") {
  RandomStream random(5, "shapes");
  CostOptions options;
  for (const char* const name : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const ModelSpec model = load_model(name);
    for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
      options.level = level;
      options.host_fixed = milliseconds(20);
      options.host_per_prefill_token = microseconds(3);
      options.host_overlap = level == CostLevel::roofline;
      for (const double factor : {0.95, 1.05}) {
        Parallelism parallelism = in_one_node(2);
        const auto plain = make_step_pricer(model, load_gpu("h100-sxm"), parallelism, options, kLimits);
        parallelism.step_time = factor;
        const auto other = make_step_pricer(model, load_gpu("h100-sxm"), parallelism, options, kLimits);
        for (int i = 0; i < 20; ++i) {
          const RandomStep step = random_step(random);
          const StepCost a = plain->price(step.shape);
          const StepCost b = other->price(step.shape);
          CAPTURE(name, factor);
          check_slowed(b.compute, a.compute, factor);
          check_slowed(b.bandwidth, a.bandwidth, factor);
          check_slowed(b.latency, a.latency, factor);
          check_slowed(b.communication, a.communication, factor);
          check_slowed(b.host, a.host, factor);
        }
      }
    }
  }
}

TEST_CASE("links that nobody measured are noted and counted as extrapolated") {
  const ModelSpec model = load_model("llama-3-8b");
  const Parallelism two_nodes{.tensor = 16, .tensor_in_node = 8, .between_nodes = kLink, .in_node = {}};
  const StepShape shape{.decodes = 10, .decode_context = 1000, .sampled_rows = 10};
  CostOptions options;
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
    options.level = level;
    const auto pricer = make_step_pricer(model, load_gpu("h100-sxm"), two_nodes, options, kLimits);
    const StepCost cost = pricer->price(shape);
    std::string notes;
    for (const std::string& note : pricer->basis().notes) {
      notes += note + "\n";
    }
    if (level == CostLevel::datasheet) {
      CHECK(cost.extrapolated == Duration());
      CHECK(notes.empty());
    } else {
      CHECK(cost.extrapolated >= cost.communication);
      CHECK(cost.communication > Duration());
      check_says(notes, {"latency and bandwidth of the links: all-reduce and logits gather"});
      CHECK(notes.find("all-reduce") == notes.rfind("all-reduce"));  // and nothing else of them
    }
  }
}

TEST_CASE("measured collectives do not price those over other links") {
  // With the same latency and bandwidth in the node, levels differ in nothing that GPUs send to each other.
  const ModelSpec model = load_model("llama-3-8b");
  const StepShape shape{.decodes = 10, .decode_context = 1000, .sampled_rows = 10};
  const auto communication = [&](CostLevel level, const Parallelism& parallelism) {
    return make_step_pricer(model, load_gpu("h100-sxm"), parallelism, at_level(level), kLimits)
        ->price(shape)
        .communication;
  };
  for (const std::int64_t in_node : {1, 2, 4}) {
    const Parallelism parallelism{
        .tensor = 4, .tensor_in_node = in_node, .between_nodes = kLink, .in_node = kLink};
    CHECK(communication(CostLevel::calibrated, parallelism) ==
          communication(CostLevel::roofline, parallelism));
  }
  CHECK(communication(CostLevel::calibrated, in_one_node(4)) !=
        communication(CostLevel::roofline, in_one_node(4)));
}

/// Knows nothing but what its prices stand on.
class BasisAlone final : public StepPricer {
 public:
  explicit BasisAlone(CostBasis basis) : basis_(std::move(basis)) {}
  [[nodiscard]] StepCost price(const StepShape&) const override { return {}; }
  [[nodiscard]] const CostBasis& basis() const override { return basis_; }

 private:
  CostBasis basis_;
};

TEST_CASE("of each end of a measured range the farthest stage counts") {
  const auto stage = [](std::vector<Extrapolation> beyond, std::vector<std::string> notes) {
    return std::make_shared<const BasisAlone>(
        CostBasis{CostLevel::calibrated, "kernels", std::move(notes), std::move(beyond)});
  };
  const Stages stages{stage({{"lm_head", "n", 200, 100}, {"lm_head", "n", 5, 10}}, {"a", "b"}),
                      stage({{"lm_head", "n", 300, 100}, {"lm_head", "n", 8, 10}}, {"b", "c"}),
                      stage({{"lm_head", "m", 300, 100}}, {})};
  const CostBasis all = basis_of_stages(stages);
  CHECK(all.profile == "kernels");
  CHECK(all.notes == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(all.extrapolations.size() == 3);
  CHECK(all.extrapolations[0].value == 300);
  CHECK(all.extrapolations[1].value == 5);
  CHECK(all.extrapolations[2].axis == "m");
}

TEST_CASE("the basis of stages has the notes of all and the farthest of each kernel") {
  const Stages stages = make_stage_pricers(load_model("llama-3-8b"), load_gpu("h100-sxm"), spread(2, 4),
                                           at_level(CostLevel::calibrated), {8192, 256, 500'000});
  const CostBasis all = basis_of_stages(stages);
  CHECK(all.level == CostLevel::calibrated);
  CHECK(all.profile == stages.front()->basis().profile);
  for (const auto& stage : stages) {
    for (const std::string& note : stage->basis().notes) {
      CHECK(std::count(all.notes.begin(), all.notes.end(), note) == 1);
    }
    for (const Extrapolation& beyond : stage->basis().extrapolations) {
      CHECK(std::count_if(all.extrapolations.begin(), all.extrapolations.end(),
                          [&](const Extrapolation& other) {
                            return other.kernel == beyond.kernel && other.axis == beyond.axis &&
                                   other.measured == beyond.measured && other.factor() >= beyond.factor();
                          }) == 1);
    }
  }
}

TEST_CASE("given profiles price stages as shipped ones do") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  const CostOptions options = at_level(CostLevel::calibrated);
  const Stages shipped = make_stage_pricers(load_model("llama-3-8b"), gpu, spread(2, 4), options, kLimits);
  const Stages given =
      make_calibrated_stage_pricers(load_model("llama-3-8b"), gpu, kernel_profile(gpu.name, options).value(),
                                    load_profile(gpu.name), spread(2, 4), options, kLimits);
  RandomStream random(5, "shapes");
  for (int i = 0; i < 20; ++i) {
    const RandomStep step = random_step(random);
    for (std::size_t stage = 0; stage < 4; ++stage) {
      CHECK(given[stage]->price(step.shape) == shipped[stage]->price(step.shape));
    }
  }
}

TEST_CASE("a pipeline that cannot be is refused") {
  const auto make = [](const Parallelism& parallelism) {
    return make_stage_pricers(samples::odd_model(), samples::round_gpu(), parallelism, {}, kLimits);
  };
  CHECK_THROWS_AS(make(spread(1, 4)), ConfigError);  // three layers
  CHECK_NOTHROW(make(spread(1, 3)));
  Parallelism apart = spread(1, 3);
  apart.stages_in_node = false;
  CHECK_THROWS_AS(make(apart), ConfigError);
  apart.between_nodes = kLink;
  CHECK_NOTHROW(make(apart));
}

}  // namespace
}  // namespace inferometer
