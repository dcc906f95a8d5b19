// Lines of steps: as far as a pricer promises one, it is the price of each step, and its end is tight.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

constexpr PricerLimits kLimits{.max_tokens = 2048, .max_rows = 256};

CostOptions without_host() {
  CostOptions options;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  options.cuda_graphs = false;
  return options;
}

std::unique_ptr<StepPricer> pricer_of(const ModelSpec& model, const CostOptions& options) {
  return make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(), in_one_node(1), options,
                              kLimits);
}

StepShape decode_shape(std::int64_t decodes, std::int64_t context) {
  return {decodes, context, decodes, {}, context};
}

/// As long as no window is full, contexts of all layers grow alike.
StepShape step_of(const StepShape& first, std::int64_t context_growth, std::int64_t step,
                  std::vector<ChunkShape>& chunks) {
  chunks.assign(first.chunks.begin(), first.chunks.end());
  for (ChunkShape& chunk : chunks) {
    chunk.past += step * chunk.tokens;
  }
  StepShape shape = first;
  shape.add_context(ContextTokens{context_growth, context_growth} * step);
  shape.chunks = chunks;
  return shape;
}

/// Returns how many steps the line holds for.
std::int64_t check_line(const StepPricer& pricer, const StepShape& first, std::int64_t context_growth) {
  const std::optional<StepLine> line = pricer.line(first, {context_growth, context_growth});
  REQUIRE(line.has_value());
  CAPTURE(first.decodes, first.decode_context, context_growth, line->steps);
  std::vector<ChunkShape> chunks;
  CHECK(line->first == pricer.price(first));
  REQUIRE(line->steps >= 1);
  const std::int64_t last = std::min(line->steps, std::int64_t{1'000'000}) - 1;
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{2}, last / 3, last / 2, last - 1, last}) {
    if (step >= 0 && step <= last) {
      CAPTURE(step);
      CHECK(line->first + line->growth * step == pricer.price(step_of(first, context_growth, step, chunks)));
    }
  }
  if (line->steps <= last + 1) {
    // The end is tight: the next step lies off the line.
    CHECK_FALSE(line->first + line->growth * (last + 1) ==
                pricer.price(step_of(first, context_growth, last + 1, chunks)));
  }
  return line->steps;
}

/// As above, but where a window begins to count the line may end before it has to.
void check_line_of_chunks(const StepPricer& pricer, const StepShape& first, std::int64_t context_growth) {
  const std::optional<StepLine> line = pricer.line(first, {context_growth, context_growth});
  REQUIRE(line.has_value());
  CHECK(line->first == pricer.price(first));
  std::vector<ChunkShape> chunks;
  const std::int64_t last = std::min(line->steps, std::int64_t{300}) - 1;
  REQUIRE(last >= 0);
  for (std::int64_t step = 1; step <= last; ++step) {
    CAPTURE(step);
    REQUIRE(line->first + line->growth * step == pricer.price(step_of(first, context_growth, step, chunks)));
  }
}

TEST_CASE("the line of decode steps is their price, as far as it says") {
  for (const bool overlap : {false, true}) {
    for (const Duration host : {Duration(), milliseconds(20), milliseconds(100)}) {
      CostOptions options;
      options.host_overlap = overlap;
      options.host_fixed = host;
      const auto pricer = pricer_of(samples::llama_3_8b(), options);
      for (const std::int64_t decodes : {1, 3, 64, 200}) {
        for (const std::int64_t context : {200, 10'000, 1'000'000}) {
          for (const std::int64_t growth : {std::int64_t{0}, std::int64_t{1}, decodes}) {
            check_line(*pricer, decode_shape(decodes, context), growth);
          }
        }
      }
    }
  }
}

TEST_CASE("the line of decode steps bends where one roof takes over from the other") {
  // Many query heads on one KV head, and a slow tensor unit: with long contexts compute binds, while the
  // queries and outputs of many sequences with short contexts bind on bandwidth.
  ModelSpec model = samples::llama_3_8b();
  model.kv_heads = 1;
  GpuSpec gpu = samples::round_gpu();
  gpu.bf16_peak = FlopsPerSecond(20e12);
  const auto pricer =
      make_roofline_pricer(model, gpu, samples::round_profile(), in_one_node(1), without_host(), kLimits);
  const std::int64_t steps = check_line(*pricer, decode_shape(200, 200), 1);
  CHECK(steps < 1'000'000);
  check_line(*pricer, decode_shape(200, 200 + steps - 1), 1);
  CHECK(check_line(*pricer, decode_shape(200, 200 + steps), 1) == StepLine::kForever);
  // Three tokens a step get there in a third of the steps.
  CHECK(check_line(*pricer, decode_shape(200, 200), 3) == (steps + 2) / 3);
}

TEST_CASE("the line of a long prompt in chunks is the price of each, beside decodes or alone") {
  ModelSpec model = samples::llama_3_8b();
  for (const std::int64_t window : {0, 1, 700, 5'000}) {
    if (window > 0) {
      model.sliding_window = window;
    }
    for (const bool overlap : {false, true}) {
      CostOptions options;
      options.host_overlap = overlap;
      options.host_fixed = milliseconds(50);
      const auto pricer = pricer_of(model, options);
      for (const std::int64_t tokens : {1, 100, 512}) {
        for (const std::int64_t past : {0, 3, 600, 4'000, 100'000}) {
          const std::array<ChunkShape, 2> chunks = {ChunkShape{tokens, past}, ChunkShape{7, 20}};
          for (const std::size_t count : {1, 2}) {
            CAPTURE(window, tokens, past, count);
            StepShape shape = decode_shape(40, 20'000);
            shape.chunks = std::span(chunks).first(count);
            check_line_of_chunks(*pricer, shape, 40);
            shape = {.chunks = shape.chunks};
            check_line_of_chunks(*pricer, shape, 0);
          }
        }
      }
    }
  }
}

TEST_CASE("chunks run on one line as long as no window is full") {
  ModelSpec model = samples::llama_3_8b();
  model.sliding_window = 1'000;
  const auto pricer = pricer_of(model, without_host());
  ChunkShape chunk{100, 50};
  const StepShape shape{.chunks = {&chunk, 1}};
  CHECK(pricer->line(shape, {})->steps == 9);  // the ninth ends with token 950, the tenth looks back too far
  chunk.past = 950;
  CHECK(pricer->line(shape, {})->steps == 1);
  chunk.past = 999;  // each token sees a full window
  CHECK(pricer->line(shape, {})->steps == StepLine::kForever);
  CHECK(pricer->line(shape, {})->growth == StepCost{});
}

TEST_CASE("a pricer promises no line unless it says so") {
  class Constant final : public StepPricer {
   public:
    [[nodiscard]] StepCost price(const StepShape&) const override { return {.host = microseconds(1)}; }
  };
  CHECK_FALSE(Constant().line({.decodes = 1, .decode_context = 1, .sampled_rows = 1}, {1, 0}).has_value());
}
}  // namespace
}  // namespace inferometer
