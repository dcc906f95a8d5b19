#include "costmodel/step_pricer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "costmodel/graph_sizes.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
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

ModelSpec windowed_model() {
  ModelSpec model = samples::llama_3_8b();
  model.sliding_window = 700;
  return model;
}

std::unique_ptr<StepPricer> pricer_of(const ModelSpec& model, const CostOptions& options,
                                      std::int64_t tensor_parallel = 1) {
  return make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(),
                              in_one_node(tensor_parallel), options, kLimits);
}

StepShape decode_shape(std::int64_t decodes, std::int64_t context) {
  return {decodes, context, decodes, {}, context};
}

/// What the roofline says, operator by operator.
StepCost sum_over(const std::vector<Operator>& operators, CostLevel level, std::int64_t tensor_parallel) {
  const Roofline roofline(samples::round_gpu(), samples::round_profile(), level,
                          in_one_node(tensor_parallel));
  StepCost sum;
  for (const Operator& part : operators) {
    const RoofTimes times = roofline.time(part);
    sum.latency += times.start_up * part.repeats;
    sum.communication += times.communication * part.repeats;
    (times.compute >= times.bandwidth ? sum.compute : sum.bandwidth) +=
        std::max(times.compute, times.bandwidth) * part.repeats;
  }
  return sum;
}

/// In [low, high].
std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

struct RandomStep {
  std::vector<ChunkShape> chunks;
  StepShape shape;
};

RandomStep random_step(RandomStream& random) {
  RandomStep step;
  const std::int64_t chunk_count = between(random, 0, 4);
  for (std::int64_t i = 0; i < chunk_count; ++i) {
    step.chunks.push_back({between(random, 1, 900), between(random, 0, 1) * between(random, 0, 20'000)});
  }
  step.shape.decodes = between(random, chunk_count == 0 ? 1 : 0, 300);
  step.shape.decode_context = step.shape.decodes * between(random, 1, 9000);
  step.shape.sampled_rows = step.shape.decodes + between(random, 0, chunk_count);
  step.shape.chunks = step.chunks;
  return step;
}

bool near(Duration a, Duration b, double relative) {
  const auto x = static_cast<double>(a.count());
  const auto y = static_cast<double>(b.count());
  return std::abs(x - y) <= relative * std::max(x, y);
}

TEST_CASE("price equals the sum of the operators' times but for quantisation") {
  RandomStream random(1, "shapes");
  for (const ModelSpec& model : {samples::llama_3_8b(), windowed_model()}) {
    for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline}) {
      for (const std::int64_t tensor_parallel : {1, 2, 8}) {
        CostOptions options = without_host();
        options.level = level;
        const auto pricer = pricer_of(model, options, tensor_parallel);
        for (int i = 0; i < 200; ++i) {
          const RandomStep step = random_step(random);
          const StepCost price = pricer->price(step.shape);
          const StepCost expected =
              sum_over(step_operators(model, tensor_parallel, step.shape), level, tensor_parallel);
          CAPTURE(tensor_parallel, step.shape.decodes, step.shape.decode_context, step.chunks.size());
          CHECK(near(price.total(), expected.total(), 1e-3));
          // Quantisation rounds up; the operators round up once a layer, two kinds of attention.
          CHECK(price.total() >= expected.total() - picoseconds(2 * model.layers));
          CHECK(price.latency == expected.latency);
          CHECK(price.communication == expected.communication);
          CHECK(near(price.compute + price.bandwidth, expected.compute + expected.bandwidth, 1e-3));
          CHECK(price.host == Duration());
        }
      }
    }
  }
}

TEST_CASE("what operators take adds up to the price without the host") {
  CostOptions options;
  options.host_fixed = microseconds(300);
  const std::vector<ChunkShape> chunks = {{512, 0}, {64, 4096}};
  const std::vector<StepShape> shapes = {decode_shape(5, 5000),  // 8 are run: a captured size
                                         {0, 0, 1, chunks},
                                         {31, 40'000, 33, chunks},
                                         {300, 100'000, 300, {}}};  // beyond the tables
  for (const std::int64_t tensor_parallel : {1, 4}) {
    const auto pricer = pricer_of(windowed_model(), options, tensor_parallel);
    for (const StepShape& shape : shapes) {
      const StepCost cost = pricer->price(shape);
      Duration sum;
      bool has_head = false, has_decode = false, has_prefill = false;
      for (const OperatorTime& one : pricer->operator_times(shape)) {
        sum += one.time;
        has_head = has_head || one.name == "lm_head";
        has_decode = has_decode || one.name == kDecodeAttention;
        has_prefill = has_prefill || one.name == kPrefillAttention;
      }
      CHECK((sum == cost.total() - cost.host));
      CHECK(has_head);
      CHECK(has_decode == (shape.decodes > 0));
      CHECK(has_prefill == !shape.chunks.empty());
    }
  }
}

// The roofline prices each operator by itself; a captured batch of 8 is run for 5 sequences.
TEST_CASE("operators of a step take what the roofline says of each") {
  const auto pricer = pricer_of(samples::llama_3_8b(), {});
  const Roofline roofline(samples::round_gpu(), samples::round_profile(), CostLevel::roofline,
                          in_one_node(1));
  const std::vector<Operator> operators = token_operators(samples::llama_3_8b(), 1, 8);
  const std::vector<OperatorTime> times = pricer->operator_times(decode_shape(5, 5000));
  REQUIRE(times.size() > operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    CHECK(times[i].name == operators[i].name);
    CHECK((times[i].time == roofline.time(operators[i]).total() * operators[i].repeats));
  }
}

TEST_CASE("a decode step worked by hand") {
  // One layer of everything 1: a FLOP takes 1 fs, a byte 1 ps, so that bytes alone count.
  ModelSpec model;
  model.name = "unit";
  model.layers = 2;
  model.hidden = 10;
  model.heads = 1;
  model.kv_heads = 1;
  model.head_dim = 4;
  model.ffn = 20;
  model.vocab = 50;
  CostOptions options = without_host();
  options.level = CostLevel::datasheet;
  const StepCost price = pricer_of(model, options)->price(decode_shape(3, 100));
  const std::int64_t embedding = 2 * 3 * 10 * 2;
  const std::int64_t norms = 5 * (4 * 3 * 10 * 2);
  const std::int64_t qkv = 2 * 10 * 12 + 2 * 3 * (10 + 12);
  const std::int64_t rope = 2 * 2 * 3 * 8 + 2 * 2 * 3 * 4;
  const std::int64_t attention = 2 * 2 * 100 * 4 + 2 * 2 * 3 * 4;
  const std::int64_t output = 2 * 4 * 10 + 2 * 3 * (4 + 10);
  const std::int64_t gate_up = 2 * 10 * 40 + 2 * 3 * (10 + 40);
  const std::int64_t silu = 3 * 2 * 3 * 20;
  const std::int64_t down = 2 * 20 * 10 + 2 * 3 * (20 + 10);
  const std::int64_t head = 2 * 10 * 50 + 2 * 3 * 10 + 4 * 3 * 50;
  const std::int64_t sampling = 3 * 4 * 3 * 50;
  CHECK(price.bandwidth.count() ==
        embedding + norms + 2 * (qkv + rope + attention + output + gate_up + silu + down) + head + sampling);
  CHECK(price.total() == price.bandwidth);
}

TEST_CASE("tables end without a step: both sides of every limit") {
  const ModelSpec model = samples::llama_3_8b();
  const auto small = make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(),
                                          in_one_node(2), {}, {100, 10});
  const auto large = make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(),
                                          in_one_node(2), {}, {4000, 1000});
  for (const std::int64_t tokens : {1, 99, 100, 101, 102, 3999, 4000, 4001, 40'000}) {
    for (const std::int64_t rows : {0, 1, 10, 11, 12, 999, 1000, 1001}) {
      const ChunkShape chunk{tokens, 17};
      const StepShape shape{.sampled_rows = rows, .chunks = {&chunk, 1}};
      CAPTURE(tokens, rows);
      CHECK(small->price(shape) == large->price(shape));
    }
  }
}

TEST_CASE("price never falls with more work") {
  RandomStream random(2, "shapes");
  const auto pricer = pricer_of(samples::llama_3_8b(), without_host());
  const auto windowed = pricer_of(windowed_model(), without_host());
  for (int i = 0; i < 500; ++i) {
    RandomStep step = random_step(random);
    StepShape more_context = step.shape;
    more_context.decode_context += between(random, 1, 1000);
    CHECK(pricer->price(more_context).total() >= pricer->price(step.shape).total());
    StepShape more_rows = step.shape;
    more_rows.sampled_rows += between(random, 1, 100);
    CHECK(pricer->price(more_rows).total() >= pricer->price(step.shape).total());
    if (!step.chunks.empty()) {
      const Duration before = pricer->price(step.shape).total();
      const Duration windowed_before = windowed->price(step.shape).total();
      step.chunks[0].past += between(random, 1, 1000);
      CHECK(pricer->price(step.shape).total() >= before);
      CHECK(windowed->price(step.shape).total() >= windowed_before);
      step.chunks[0].tokens += between(random, 1, 1000);
      CHECK(pricer->price(step.shape).total() >= before);
    }
  }
}

TEST_CASE("decode price is affine in the context between kinks") {
  const auto pricer = pricer_of(samples::llama_3_8b(), without_host());
  for (const std::int64_t decodes : {1, 7, 64, 255}) {
    const auto total = [&](std::int64_t context) {
      return pricer->price(decode_shape(decodes, context)).total();
    };
    const Duration slope = total(decodes + 1) - total(decodes);
    // 131,072 B a token at 0.9 TB/s, rounded up to a picosecond.
    CHECK(slope == picoseconds(145'636));
    for (std::int64_t context = decodes; context < 2'000'000; context += 99'991) {
      CHECK(total(context + 1) - total(context) == slope);
    }
  }
}

TEST_CASE("a constant chunk's price is affine in its past") {
  for (const std::int64_t tokens : {1, 16, 100, 512, 2048}) {
    const auto pricer = pricer_of(samples::llama_3_8b(), without_host());
    const auto total = [&](std::int64_t past) {
      const ChunkShape chunk{tokens, past};
      return pricer->price({.chunks = {&chunk, 1}}).total();
    };
    const Duration slope = total(1001) - total(1000);
    int kinks = 0;
    for (std::int64_t past = 1000; past < 200'000; past += 997) {
      kinks += (total(past + 2) - total(past + 1) == total(past + 1) - total(past)) ? 0 : 1;
    }
    CAPTURE(tokens);
    CHECK(kinks <= 1);  // at most where the memory roof gives way to the compute roof
    CHECK(slope > Duration());
    // Beyond the last kink the whole stretch is one line: no rounding of each step shows.
    CHECK(total(300'000) - total(250'000) == (total(250'001) - total(250'000)) * 50'000);
  }
}

TEST_CASE("beyond its window a chunk costs the same whatever its past") {
  const auto pricer = pricer_of(windowed_model(), without_host());
  const auto total = [&](std::int64_t past) {
    const ChunkShape chunk{512, past};
    return pricer->price({.chunks = {&chunk, 1}}).total();
  };
  // The first new token sees itself and 699 others.
  CHECK(total(698) < total(699));
  CHECK(total(699) == total(700));
  CHECK(total(699) == total(1'000'000));
}

TEST_CASE("start-up of attention is paid once a layer, whatever the number of chunks") {
  const auto pricer = pricer_of(samples::llama_3_8b(), without_host());
  const ChunkShape one[] = {{128, 0}};
  const ChunkShape four[] = {{32, 0}, {32, 0}, {32, 0}, {32, 0}};
  CHECK(pricer->price({.chunks = one}).latency == pricer->price({.chunks = four}).latency);
  StepShape mixed{.decodes = 3, .decode_context = 300, .chunks = one};
  const StepShape chunk_only{.chunks = one};
  // Decodes ride along; only what each sequence and KV head adds is paid: 32 layers, 3 sequences, 8 heads, 20
  // ns.
  CHECK(pricer->price(mixed).latency - pricer->price(chunk_only).latency == nanoseconds(32 * 3 * 8 * 20));
}

TEST_CASE("graph sizes: the next captured one, up to twice max_num_seqs") {
  const GraphSizes many(1024, true);
  const std::pair<std::int64_t, std::int64_t> expected[] = {
      {1, 1},     {2, 2},     {3, 4},     {4, 4},     {5, 8},     {8, 8},     {9, 16},    {247, 248},
      {248, 248}, {249, 256}, {256, 256}, {257, 272}, {496, 496}, {500, 512}, {512, 512}, {513, 513}};
  for (const auto& [batch, padded] : expected) {
    CAPTURE(batch);
    CHECK(many.padded(batch) == padded);
  }
  const GraphSizes few(6, true);  // bound 12: captures 1, 2, 4, 8
  CHECK(few.padded(7) == 8);
  CHECK(few.padded(9) == 9);
  CHECK(GraphSizes(1, true).padded(3) == 3);
  CHECK(GraphSizes(1024, false).padded(3) == 3);
}

TEST_CASE("a decode-only step is priced for the captured batch size, other steps are not") {
  CostOptions graphs = without_host();
  graphs.cuda_graphs = true;
  const ModelSpec model = samples::llama_3_8b();
  const auto padded = pricer_of(model, graphs);
  const auto plain = pricer_of(model, without_host());
  const StepShape nine{.decodes = 9, .decode_context = 900};
  // Projections and norms run for sixteen; attention for the nine sequences that are there.
  std::vector<Operator> operators = token_operators(model, 1, 16);
  operators.push_back(decode_attention(model, 1, 9, 900, false));
  CHECK(near(padded->price(nine).total(), sum_over(operators, CostLevel::roofline, 1).total(), 1e-5));
  CHECK(padded->price(nine).total() > plain->price(nine).total());
  const ChunkShape chunk{1, 0};
  const StepShape mixed{.decodes = 9, .decode_context = 900, .chunks = {&chunk, 1}};
  CHECK(padded->price(mixed) == plain->price(mixed));
}

TEST_CASE("host time is added, or hidden behind the GPU") {
  CostOptions options = without_host();
  const ModelSpec model = samples::llama_3_8b();
  const ChunkShape chunk{10, 0};
  const StepShape shape{.decodes = 3, .decode_context = 30, .chunks = {&chunk, 1}};
  const Duration gpu = pricer_of(model, options)->price(shape).total();

  options.host_fixed = microseconds(100);
  options.host_per_sequence = microseconds(7);
  CHECK(pricer_of(model, options)->price(shape).host == microseconds(100 + 4 * 7));
  CHECK(pricer_of(model, options)->price(shape).total() == gpu + microseconds(128));
  options.host_per_prefill_token = nanoseconds(300);  // of ten
  CHECK(pricer_of(model, options)->price(shape).host == microseconds(100 + 4 * 7 + 3));
  options.host_per_prefill_token = {};
  options.host_overlap = true;
  CHECK(pricer_of(model, options)->price(shape).host == Duration());
  options.host_fixed = gpu;
  CHECK(pricer_of(model, options)->price(shape).host == microseconds(28));
  CHECK(pricer_of(model, options)->price(shape).total() == gpu + microseconds(28));
}

TEST_CASE("efficiencies of the user replace those of the profile") {
  CostOptions options = without_host();
  const ModelSpec model = samples::llama_3_8b();
  const ChunkShape chunk{2048, 0};
  const StepShape shape{.chunks = {&chunk, 1}};
  const Duration before = pricer_of(model, options)->price(shape).compute;
  options.gemm_compute_efficiency = 0.25;  // half of the profile's
  const Duration gemms = Flops(2.0 * 2048 * 32 * 218'103'808) / FlopsPerSecond(0.5e15);
  CHECK(near(pricer_of(model, options)->price(shape).compute, before + gemms, 1e-6));
  options.gemm_compute_efficiency.reset();
  options.attention_compute_efficiency = 0.125;
  const double pairs = 2048.0 * (2048 + 101) / 2;
  const Duration attention = Flops(32 * 4 * 4096 * pairs) / FlopsPerSecond(0.25e15);
  CHECK(near(pricer_of(model, options)->price(shape).compute, before + attention, 1e-6));
}

TEST_CASE("a model that cannot be split is refused") {
  for (const std::int64_t tensor_parallel : {-1, 0, 3, 16}) {
    CHECK_THROWS_AS(pricer_of(samples::llama_3_8b(), {}, tensor_parallel), ConfigError);
  }
}

}  // namespace
}  // namespace inferometer
