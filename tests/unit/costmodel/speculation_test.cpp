// What speculation costs and holds: closed forms, and shapes of published heads.

#include "costmodel/speculation.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "costmodel/memory_footprint.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/work_totals.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

StepShape verifying(std::int64_t batch, std::int64_t context, std::int64_t drafts) {
  return {.decodes = batch,
          .decode_context = batch * context,
          .sampled_rows = batch * (drafts + 1),
          .chunks = {},
          .queries = drafts + 1};
}

const Operator& named(const std::vector<Operator>& operators, std::string_view name) {
  return *std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return o.name == name; });
}

TEST_CASE("k drafts are k + 1 positions: weights are read once for all of them") {
  const ModelSpec model = samples::llama_3_8b();
  const std::vector<Operator> plain = step_operators(model, 1, verifying(8, 1000, 0));
  const std::vector<Operator> verify = step_operators(model, 1, verifying(8, 1000, 4));
  for (const char* name :
       {"qkv projection", "o projection", "gate + up projection", "down projection", "lm_head"}) {
    CAPTURE(name);
    CHECK(named(verify, name).flops.count() == 5 * named(plain, name).flops.count());
  }
  // QKV of Llama-3-8B: 4096 x 6144 weights of 2 B, and 2 B for each input and output of a row.
  CHECK(named(verify, "qkv projection").hbm_bytes.count() == 2 * 4096 * 6144 + 2 * 40 * (4096 + 6144));
  // FLOPs for each byte of weights: the batch, and five times as much.
  CHECK(named(plain, "qkv projection").flops.count() / (2 * 4096 * 6144) == 8);
  CHECK(named(verify, "qkv projection").flops.count() / (2 * 4096 * 6144) == 40);
}

TEST_CASE("attention over drafts is that of a chunk behind the cached tokens") {
  const ModelSpec model = samples::llama_3_8b();
  // A decode that attends 1000 tokens has 999 cached, and is followed by its drafts.
  const ChunkShape chunk{5, 999};
  const Operator as_chunk = prefill_attention(model, 1, {&chunk, 1});
  const Operator verify = decode_attention(attention_parts(model).front(), 1, verifying(1, 1000, 4));
  CHECK(verify.flops == as_chunk.flops);
  CHECK(verify.hbm_bytes == as_chunk.hbm_bytes);
  // (k + 1) times the FLOPs of one position, and k (k + 1) / 2 pairs more; KV of four tokens more.
  CHECK(verify.flops.count() == 4.0 * 32 * 128 * (5 * 1000 + 10));
  CHECK(verify.hbm_bytes.count() == 2 * 2 * 1004 * 8 * 128 + 2 * 2 * 5 * 32 * 128);
}

TEST_CASE("totals of work equal the operators of a step that verifies") {
  const ModelSpec model = samples::odd_model();
  WorkTotals totals(model, 1);
  const StepShape shape = verifying(3, 17, 2);
  totals.add(shape);
  const std::vector<Operator> operators = step_operators(model, 1, shape);
  CHECK(totals.flops() == total_flops(operators));
  CHECK(totals.hbm_bytes() == total_hbm_bytes(operators));
  CHECK(static_cast<double>(totals.of_step(shape).flops) == total_flops(operators).count());
}

TEST_CASE("expected tokens of a step") {
  CHECK(expected_tokens(0.0, 4) == 1);
  CHECK(expected_tokens(1.0, 4) == 5);
  CHECK(std::abs(expected_tokens(0.7, 4) - (1 - std::pow(0.7, 5)) / 0.3) < 1e-12);
  const std::vector<double> by_position = {0.8, 0.5};
  CHECK(std::abs(expected_tokens(by_position) - (1 + 0.8 + 0.4)) < 1e-12);
}

TEST_CASE("an EAGLE head is a layer, a projection of two vectors, and the target's vocabulary") {
  const ModelSpec model = samples::llama_3_8b();
  const Drafter eagle = make_drafter(DraftMethod::eagle, model, std::nullopt);
  // QKV 4096 x 6144, O 4096 x 4096, FFN 3 x 4096 x 14336, two norms; 8192 x 4096 in front: about 0.25 B, as
  // the head published for it.
  const std::int64_t layer = 4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096;
  CHECK(eagle.held->parameters() == layer + 8192 * 4096);
  CHECK(weight_bytes_per_gpu(*eagle.held, 1).count() == 2 * (layer + 8192 * 4096));
  CHECK(eagle.held->kv_bytes_per_token().count() == 2 * 8 * 128 * 2);
  CHECK(eagle.pass->vocabulary_tables() == 2);
  CHECK(eagle.lookahead(4) == 4);
  const std::vector<Operator> pass = token_operators(*eagle.pass, 1, 10);
  CHECK(named(pass, "joined input projection").flops.count() == 2.0 * 10 * 8192 * 4096);
  CHECK(named(pass, "qkv projection").repeats == 1);
}

TEST_CASE("n-grams cost nothing and hold nothing: a draft model must speak the target's vocabulary") {
  const ModelSpec model = samples::llama_3_8b();
  const Drafter ngram = make_drafter(DraftMethod::ngram, model, std::nullopt);
  CHECK_FALSE(ngram.pass.has_value());
  CHECK_FALSE(ngram.held.has_value());
  CHECK(ngram.lookahead(4) == 0);
  CHECK_THROWS_AS(make_drafter(DraftMethod::draft_model, model, samples::odd_model()), ConfigError);
  CHECK(make_drafter(DraftMethod::draft_model, model, load_model("llama-3.2-1b")).lookahead(4) == 4);
}

class SpeculativePrices {
 public:
  explicit SpeculativePrices(DraftMethod method)
      : drafter(make_drafter(method, model, std::nullopt)),
        target(make_step_pricer(model, gpu, in_one_node(1), {}, limits)),
        speculative(make_speculative_pricer(target, drafter, gpu, in_one_node(1), {}, limits)) {
    CostOptions no_host;
    no_host.host_fixed = {};
    no_host.host_per_sequence = {};
    alone = make_step_pricer(*drafter.pass, gpu, in_one_node(1), no_host, limits);
  }

  const ModelSpec model = samples::llama_3_8b();
  const GpuSpec gpu = load_gpu("h100-sxm");
  const PricerLimits limits{.max_tokens = 512, .max_rows = 64, .max_context = 0, .max_queries = 4};
  Drafter drafter;
  std::shared_ptr<const StepPricer> target, speculative;
  std::unique_ptr<StepPricer> alone;
};

TEST_CASE("a step is charged the k passes that drafted what it verifies") {
  const SpeculativePrices prices(DraftMethod::eagle);
  const StepShape shape = verifying(16, 1000, 3);
  StepShape first = shape;
  first.sampled_rows = 16;
  StepCost expected = prices.target->price(shape) + prices.alone->price(first);
  for (const std::int64_t pass : {1, 2}) {
    expected = expected +
               prices.alone->price({.decodes = 16, .decode_context = 16 * (1000 + pass), .sampled_rows = 16});
  }
  CHECK((prices.speculative->price(shape) == expected));
}

TEST_CASE("the drafter runs prompt chunks once, and nothing for decodes that do not draft") {
  const SpeculativePrices prices(DraftMethod::eagle);
  const std::vector<ChunkShape> chunks = {{200, 300}};
  const StepShape beside{.decodes = 4, .decode_context = 400, .sampled_rows = 5, .chunks = chunks};
  const StepShape chunk_alone{.chunks = chunks};
  CHECK(
      (prices.speculative->price(beside) == prices.target->price(beside) + prices.alone->price(chunk_alone)));
  const StepShape plain = verifying(4, 100, 0);
  CHECK((prices.speculative->price(plain) == prices.target->price(plain)));
}

TEST_CASE("verifying costs no less than decoding, at every level") {
  const ModelSpec model = samples::llama_3_8b();
  const GpuSpec gpu = load_gpu("h100-sxm");
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline, CostLevel::calibrated}) {
    CostOptions options;
    options.level = level;
    options.cuda_graphs = false;
    const auto pricer =
        make_step_pricer(model, gpu, in_one_node(1), options, {.max_tokens = 1, .max_rows = 1});
    for (const std::int64_t batch : {1, 7, 64, 300}) {
      CAPTURE(to_string(level), batch);
      Duration shorter = pricer->price(verifying(batch, 2000, 0)).total();
      const Duration plain = shorter;
      for (const std::int64_t drafts : {1, 4, 16}) {
        const Duration longer = pricer->price(verifying(batch, 2000, drafts)).total();
        CHECK(longer >= shorter);
        shorter = longer;
      }
      // Weights and KV once: at batch 1 sixteen more positions are far from sixteen more steps.
      CHECK((batch > 1 || shorter < plain * 2));
    }
  }
}

TEST_CASE("drafter's weights and KV leave less to the KV cache") {
  const ModelSpec model = samples::llama_3_8b();
  const GpuSpec gpu = load_gpu("h100-sxm");
  MemorySettings settings;
  const MemoryFootprint alone = memory_footprint(model, gpu, in_one_node(1), settings);
  settings.drafter = load_model("llama-3.2-1b");
  const MemoryFootprint both = memory_footprint(model, gpu, in_one_node(1), settings);
  CHECK(both.drafter_weights == Bytes(2 * settings.drafter->parameters()));
  CHECK(both.kv_cache == alone.kv_cache - both.drafter_weights);
  CHECK(both.kv_bytes_per_token == alone.kv_bytes_per_token + settings.drafter->kv_bytes_per_token());
  CHECK(both.blocks.count() == both.kv_cache.count() / (16 * both.kv_bytes_per_token.count()));
}

}  // namespace
}  // namespace inferometer
