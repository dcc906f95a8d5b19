// Multi-head latent attention against closed forms, the figures of spec/scheduling-and-cost.md 2.3, and the
// work of measured kernels.

#include "costmodel/latent_attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

const Operator& named(const std::vector<Operator>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Operator& one) { return one.name == name; });
  REQUIRE(found != list.end());
  return *found;
}

std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// FLOPs per byte.
double intensity(const Operator& part) {
  return part.flops.count() / static_cast<double>(part.hbm_bytes.count());
}

TEST_CASE("latent attention: FLOPs and bytes over random shapes are their closed forms") {
  RandomStream random(5, "latent");
  for (int i = 0; i < 300; ++i) {
    ModelSpec model = samples::odd_latent_model();
    LatentAttention& latent = *model.latent;
    latent = {between(random, 0, 1) * between(random, 1, 40), between(random, 1, 40), between(random, 1, 20),
              between(random, 1, 20), between(random, 1, 20)};
    model.kv_bytes = between(random, 1, 2);
    const std::int64_t degree = std::int64_t{1} << between(random, 0, 3);
    const std::int64_t heads = model.heads / degree;
    const std::int64_t q = between(random, 1, 50);
    const std::int64_t p = between(random, 0, 50);
    const std::int64_t context = between(random, 1, 500);
    const std::int64_t decodes = between(random, 1, 9);
    const ChunkShape chunk{q, p};
    const std::int64_t query = latent.nope_dim + latent.rope_dim;
    const std::int64_t cached = latent.kv_rank + latent.rope_dim;
    std::int64_t pairs = 0;
    for (std::int64_t token = 1; token <= q; ++token) {
      pairs += p + token;
    }

    const Operator prefill = prefill_attention(model, degree, {&chunk, 1});
    CHECK(prefill.flops.count() == static_cast<double>(2 * heads * (query + latent.value_dim) * pairs));
    CHECK(prefill.hbm_bytes.count() == 2 * heads * (query + latent.value_dim) * (p + q) +  // keys, values
                                           2 * heads * (query + latent.value_dim) * q +    // queries, outputs
                                           model.kv_bytes * cached * q);                   // cache write
    const Operator decode = decode_attention(model, degree, decodes, context, false);
    CHECK(decode.flops.count() == static_cast<double>(2 * heads * (cached + latent.kv_rank) * context));
    CHECK(decode.hbm_bytes.count() ==
          model.kv_bytes * cached * context + 2 * heads * (cached + latent.kv_rank) * decodes);
    CHECK(decode.sequence_heads == decodes);

    const Operator up = up_projection(model, degree, p + q);
    const std::int64_t outputs = heads * (latent.nope_dim + latent.value_dim);
    CHECK(up.flops.count() == static_cast<double>(2 * (p + q) * latent.kv_rank * outputs));
    CHECK(up.hbm_bytes.count() == 2 * latent.kv_rank * outputs + 2 * (p + q) * (latent.kv_rank + outputs));
    const Operator into = query_absorption(model, degree, decodes);
    CHECK(into.flops.count() == static_cast<double>(2 * decodes * heads * latent.nope_dim * latent.kv_rank));
    const Operator out = value_absorption(model, degree, decodes);
    CHECK(out.flops.count() == static_cast<double>(2 * decodes * heads * latent.value_dim * latent.kv_rank));
    CHECK(out.hbm_bytes.count() ==
          2 * heads * (latent.kv_rank * latent.value_dim + decodes * (latent.kv_rank + latent.value_dim)));
  }
}

TEST_CASE(
    "latent attention: a decode of DeepSeek-V3 has 241.8 FLOPs a byte of cache, of which heads share "
    "the bytes") {
  const ModelSpec model = samples::deepseek_v3_dense();
  for (const std::int64_t degree : {1, 2, 4, 8, 16}) {
    const Operator key = decode_attention(model, degree, 0, 1, false);
    CHECK(key.flops.count() == 278'528.0 / static_cast<double>(degree));
    CHECK(key.hbm_bytes.count() == 1'152);
    CHECK(intensity(key) == Approx(241.78 / static_cast<double>(degree)).epsilon(1e-4));
  }
  CHECK(intensity(decode_attention(model, 8, 0, 1, false)) == Approx(30.2).epsilon(1e-3));
  const ChunkShape two{1, 1};
  CHECK(prefill_attention(model, 1, {&two, 1}).flops.count() == 2 * 81'920.0);
  CHECK(model.kv_bytes_per_token().count() == 70'272);
  CHECK(model.kv_bytes_per_token(8).count() == 70'272);
}

TEST_CASE("latent attention: the matrices of a layer of DeepSeek-V3 are its 187.1 million parameters") {
  const ModelSpec model = samples::deepseek_v3_dense();
  const std::vector<Operator> list = latent_projections(model, 1, 1);
  const auto weights = [](const Operator& part) { return part.call->axes[1] * part.call->axes[2]; };
  CHECK(weights(named(list, "q_a + kv_a projection")) == 7168.0 * (1536 + 576));
  CHECK(weights(named(list, "q_b projection")) == 1536.0 * 128 * 192);
  CHECK(weights(named(list, "o projection")) == 128.0 * 128 * 7168);
  const double of_layer = weights(named(list, "q_a + kv_a projection")) +
                          weights(named(list, "q_b projection")) + weights(named(list, "o projection")) +
                          weights(up_projection(model, 1, 1));
  CHECK(of_layer == Approx(187.1e6).epsilon(3e-4));
  // All parameters less norms (two of the width, those of the compressed vectors; the last), feed-forward
  // network, embedding and head.
  const double others = 61.0 * (2 * 7168 + 1536 + 512 + 3.0 * 7168 * 18432) + 7168 + 2.0 * 129280 * 7168;
  CHECK(static_cast<double>(model.parameters()) == 61 * of_layer + others);
}

TEST_CASE("latent attention: a tensor group splits heads, not the compressed vectors") {
  const ModelSpec model = samples::deepseek_v3_dense();
  const std::vector<Operator> whole = latent_projections(model, 1, 10);
  const std::vector<Operator> eighth = latent_projections(model, 8, 10);
  CHECK(named(eighth, "q_a + kv_a projection").flops == named(whole, "q_a + kv_a projection").flops);
  CHECK(named(eighth, "latent norm").hbm_bytes == named(whole, "latent norm").hbm_bytes);
  CHECK(named(eighth, "q_b projection").flops.count() * 8 == named(whole, "q_b projection").flops.count());
  CHECK(named(eighth, "o projection").flops.count() * 8 == named(whole, "o projection").flops.count());
  CHECK(up_projection(model, 8, 10).flops.count() * 8 == up_projection(model, 1, 10).flops.count());
  CHECK(query_absorption(model, 8, 10).flops.count() * 8 == query_absorption(model, 1, 10).flops.count());
}

TEST_CASE("latent attention: queries that are not compressed are one product of the hidden states") {
  const ModelSpec model = samples::odd_latent_model(0);
  const std::vector<Operator> list = latent_projections(model, 2, 3);
  CHECK(named(list, "q projection").flops.count() == 2.0 * 3 * 40 * (4 * 10));
  CHECK(named(list, "kv_a projection").flops.count() == 2.0 * 3 * 40 * (14 + 4));
  CHECK(named(list, "latent norm").hbm_bytes.count() == 2 * 2 * 3 * 14);
  CHECK(list.size() == 4);
}

TEST_CASE("latent attention: a step of chunks and decodes in order of execution") {
  const ChunkShape chunks[] = {{100, 50}, {7, 0}};
  const StepShape mixed{.decodes = 4, .decode_context = 400, .sampled_rows = 5, .chunks = chunks};
  std::vector<std::string> names;
  for (const Operator& part : step_operators(samples::odd_latent_model(), 1, mixed)) {
    names.emplace_back(part.name);
  }
  CHECK(names == std::vector<std::string>{"embedding", "norm + residual", "q_a + kv_a projection",
                                          "latent norm", "q_b projection", "kv_b projection",
                                          "prefill attention", "query absorption", "decode attention",
                                          "value absorption", "o projection", "gate + up projection",
                                          "silu x up", "down projection", "lm_head", "sampling"});
  // Keys and values are made for the cached tokens, too.
  const std::vector<Operator> attention = attention_operators(samples::odd_latent_model(), 1, mixed);
  CHECK(named(attention, "kv_b projection").call->axes[0] == 100 + 50 + 7);
}

TEST_CASE("latent attention: measured kernels do the work of the operators") {
  ModelSpec model = samples::deepseek_v3_dense();
  for (const std::int64_t kv_bytes : {1, 2}) {
    model.kv_bytes = kv_bytes;
    for (const std::int64_t degree : {1, 8}) {
      const std::vector<ChunkShape> prompts(3, ChunkShape{100, 0});
      const Operator prefill = prefill_attention(model, degree, prompts);
      CHECK(kernel_work(*prefill.call).flops == Approx(prefill.flops.count()));
      CHECK(kernel_work(*prefill.call).hbm_bytes == Approx(static_cast<double>(prefill.hbm_bytes.count())));
      const Operator decode = decode_attention(model, degree, 5, 5 * 77, false);
      CHECK(kernel_work(*decode.call).flops == decode.flops.count());
      CHECK(kernel_work(*decode.call).hbm_bytes == static_cast<double>(decode.hbm_bytes.count()));
      CHECK(decode.call->variant == (kv_bytes == 1 ? "fp8_kv" : "bf16"));
    }
  }
  // Other sizes than DeepSeek's nobody measured.
  CHECK_FALSE(decode_attention(samples::odd_latent_model(), 1, 5, 50, false).call.has_value());
}

}  // namespace
}  // namespace inferometer
