// Mixtures of experts beside what can be said on paper: what small batches save, and which split of a layer
// wins where.

#include <string>

#include "costmodel/memory_footprint.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/step_pricer.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr PricerLimits kLimits{.max_tokens = 2048, .max_rows = 1024};

StepShape decode(std::int64_t batch, std::int64_t context) {
  return {.decodes = batch, .decode_context = batch * context, .sampled_rows = batch};
}

Operator experts_of(const std::vector<Operator>& list) {
  for (const Operator& part : list) {
    if (part.family == OperatorFamily::experts) {
      return part;
    }
  }
  FAIL("a mixture without experts");
  return {};
}

Parallelism tensor(std::int64_t degree, std::int64_t groups = 1) {
  Parallelism parallelism = in_one_node(degree);
  parallelism.expert = groups;
  return parallelism;
}

/// Ranks of one GPU, experts dealt out to all of them.
Parallelism ranks(std::int64_t count) {
  Parallelism parallelism = in_one_node(1);
  parallelism.attention_data = count;
  parallelism.expert = count;
  return parallelism;
}

Duration step_time(const char* model, const char* gpu_name, const char* weights,
                   const Parallelism& parallelism, const StepShape& shape) {
  CostOptions options;
  options.level = CostLevel::roofline;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  const GpuSpec gpu = load_gpu(gpu_name);
  return make_step_pricer(quantized(load_model(model), gpu, weights, "auto"), gpu, parallelism, options,
                          kLimits)
      ->price(shape)
      .total();
}

MemoryFootprint memory(const char* model, const char* gpu_name, const char* weights,
                       const Parallelism& parallelism) {
  const GpuSpec gpu = load_gpu(gpu_name);
  return memory_footprint(quantized(load_model(model), gpu, weights, "auto"), gpu, parallelism, {});
}

}  // namespace

TEST_CASE("a decode step of Mixtral reads 2 then 7.2 and 8 experts of each layer") {
  // One expert: 3 x 4096 x 14336 weights of 2 bytes.
  const double expert = 3.0 * 4096 * 14336 * 2;
  const ModelSpec model = load_model("mixtral-8x7b");
  for (const auto& [batch, distinct] : {std::pair{1, 2.0}, std::pair{8, 7.1991}, std::pair{64, 8.0}}) {
    const Operator experts = experts_of(step_operators(model, 1, decode(batch, 1000)));
    CHECK(experts.repeats == 32);
    // Activations are a hundredth at the most.
    const double weights = static_cast<double>(experts.hbm_bytes.count()) / expert;
    CHECK(weights >= distinct * 0.9999);
    CHECK(weights <= distinct * 1.01);
  }
}

TEST_CASE("measured kernels price routed experts") {
  // H100, vLLM 0.24 in aiconfigurator's table: over two GPUs the fused kernel of Mixtral computes 8,192
  // tokens at 658 TFLOP/s; weights are read at 2.7 to 2.9 TB/s.
  const ModelSpec model = load_model("mixtral-8x7b");
  const GpuSpec gpu = load_gpu("h100-sxm");
  CostOptions options;
  options.level = CostLevel::calibrated;
  const auto pricer = make_step_pricer(model, gpu, tensor(2), options, {.max_tokens = 8192, .max_rows = 256});
  CHECK(pricer->basis().level == CostLevel::calibrated);
  for (const std::string& note : pricer->basis().notes) {
    CHECK(note.find("experts") == std::string::npos);
  }
  const auto experts_time = [&](const StepShape& shape) {
    for (const OperatorTime& part : pricer->operator_times(shape)) {
      if (part.name == "experts") {
        return to_seconds(part.time);
      }
    }
    return 0.0;
  };
  const ChunkShape prompt{8192, 0};
  const Operator of_prompt = experts_of(token_operators(model, 2, 8192));
  const double flops =
      of_prompt.flops.count() * 32 / experts_time({.sampled_rows = 1, .chunks = {&prompt, 1}});
  CHECK(flops < 1.15 * 658e12);
  CHECK(flops > 0.85 * 658e12);
  const Operator of_decode = experts_of(token_operators(model, 2, 64));
  const double bandwidth =
      static_cast<double>(of_decode.hbm_bytes.count()) * 32 / experts_time(decode(64, 1000));
  CHECK(bandwidth < 3.0e12);
  CHECK(bandwidth > 2.0e12);
}

TEST_CASE("experts dealt out to ranks of attention win at large batches and lose at small ones") {
  // Qwen3-235B-A22B has four KV heads: eight GPUs that split attention read each head's cache twice, and read
  // a quarter of it where ranks read an eighth. At 512 sequences of 4096 tokens that is 101 GB against 50.
  // For one sequence a rank reads all of attention, 9.6 GB in 16 bit, of which a GPU of eight reads 1.2.
  const StepShape many = decode(512, 4096);
  const StepShape single = decode(1, 4096);
  const char* model = "qwen3-235b-a22b";
  CHECK(step_time(model, "h200-sxm", "none", ranks(8), many) <
        step_time(model, "h200-sxm", "none", tensor(8), many));
  CHECK(step_time(model, "h200-sxm", "none", ranks(8), single) >
        step_time(model, "h200-sxm", "none", tensor(8), single));
}

TEST_CASE("with one rank dealt out experts wait for the fullest group") {
  // As many weights to read and FLOPs on average, but tokens are not spread evenly: with 8 tokens of
  // DeepSeek- V3 the fullest of eight groups has 8 + sqrt(2 x 8 ln 8) = 13.8 pairs and not 8.
  for (const std::int64_t batch : {8, 64, 512}) {
    CHECK(step_time("deepseek-v3", "h200-sxm", "none", tensor(8, 8), decode(batch, 2000)) >
          step_time("deepseek-v3", "h200-sxm", "none", tensor(8), decode(batch, 2000)));
  }
}

TEST_CASE("ranks of attention hold more tokens where KV heads cannot be split further") {
  // Eight GPUs hold the cache of DeepSeek-V3 eight times over under tensor parallelism, once as ranks. A rank
  // keeps all of attention, 11.4 GB in fp8 instead of 2.4 with what is not split, and has no less than half
  // of the memory left: at least four times as many tokens.
  const MemoryFootprint split = memory("deepseek-v3", "h200-sxm", "none", tensor(8));
  const MemoryFootprint ranked = memory("deepseek-v3", "h200-sxm", "none", ranks(8));
  REQUIRE(split.fits());
  CHECK(ranked.kv_bytes_per_token == split.kv_bytes_per_token);
  CHECK(ranked.weights > split.weights);
  CHECK(ranked.tokens().count() > 4 * split.tokens().count());
  CHECK(ranked.tokens().count() < 8 * split.tokens().count());
}

}  // namespace inferometer
