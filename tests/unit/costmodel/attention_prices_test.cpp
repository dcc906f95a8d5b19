#include "costmodel/attention_prices.hpp"

#include "base/error.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

/// A FLOP takes a picosecond and so does a byte, or next to nothing: prices are whole numbers that can be
/// counted.
Roofline one_picosecond(double byte_ps) {
  const GpuSpec gpu = samples::gpu("unit", 1, 1 / byte_ps, 1);
  return {gpu, samples::round_profile(), CostLevel::datasheet, in_one_node(1)};
}

ModelSpec two_heads() {
  ModelSpec model;
  model.name = "two heads on one KV head";
  model.layers = 3;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_dim = 4;
  return model;
}

StepCost decode_cost(const DecodeAttentionPrice& price, std::int64_t decodes, std::int64_t context) {
  StepCost cost;
  price.add({decodes, context}, false, cost);
  return cost;
}

StepLine growth_of(const DecodeAttentionPrice& price, std::int64_t decodes, std::int64_t context,
                   std::int64_t context_growth) {
  StepLine line;
  price.add_growth(decodes, context, context_growth, line);
  return line;
}

TEST_CASE("decode attention where both roofs meet on a whole token") {
  // A layer computes 4 * 2 * 4 = 32 FLOPs a context token; it moves 16 B for that and 32 B for each sequence.
  // The roofs meet at twice as many tokens as sequences, and there the compute roof counts.
  const DecodeAttentionPrice price(two_heads(), 1, one_picosecond(1));
  CHECK(decode_cost(price, 5, 9).bandwidth == picoseconds(3 * (16 * 9 + 32 * 5)));
  CHECK(decode_cost(price, 5, 10).compute == picoseconds(3 * 32 * 10));
  CHECK(decode_cost(price, 5, 10).bandwidth == Duration());

  // One more context token a step: contexts 5 to 9 are bound by bandwidth.
  CHECK(growth_of(price, 5, 5, 1).steps == 5);
  CHECK(growth_of(price, 5, 9, 1).steps == 1);
  CHECK(growth_of(price, 5, 9, 1).growth.bandwidth == picoseconds(3 * 16));
  CHECK(growth_of(price, 5, 10, 1).steps == StepLine::kForever);
  CHECK(growth_of(price, 5, 10, 1).growth.compute == picoseconds(3 * 32));
  // Five more: 5, then 10, which is not. Seven more from 1: 1, 8, then 15. None: for ever.
  CHECK(growth_of(price, 5, 5, 5).steps == 1);
  CHECK(growth_of(price, 5, 1, 7).steps == 2);
  CHECK(growth_of(price, 5, 1, 7).growth.bandwidth == picoseconds(7 * 3 * 16));
  CHECK(growth_of(price, 5, 9, 0).steps == StepLine::kForever);
}

TEST_CASE("prefill attention prices every pair, windows included, on the compute roof") {
  for (const std::int64_t window : {1, 2, 7, 1000}) {
    ModelSpec model = two_heads();
    model.sliding_window = window;
    const PrefillAttentionPrice price(model, 1, one_picosecond(1e-9));
    for (std::int64_t past = 0; past <= 10; ++past) {
      for (std::int64_t tokens = 1; tokens <= 10; ++tokens) {
        const ChunkShape chunk{tokens, past};
        StepCost cost;
        price.add({&chunk, 1}, cost);
        CAPTURE(window, past, tokens);
        CHECK(cost.compute.count() == 3 * 32 * attention_pairs(chunk, window));
      }
    }
  }
}

TEST_CASE("prefill attention prices every key and query on the memory roof") {
  for (const std::int64_t window : {1, 2, 7, 1000}) {
    ModelSpec model = two_heads();
    model.sliding_window = window;
    const PrefillAttentionPrice price(model, 1, one_picosecond(1000));
    for (std::int64_t past = 0; past <= 10; ++past) {
      for (std::int64_t tokens = 1; tokens <= 10; ++tokens) {
        const ChunkShape chunk{tokens, past};
        StepCost cost;
        price.add({&chunk, 1}, cost);
        CAPTURE(window, past, tokens);
        const std::int64_t exact = 1000 * 3 * (16 * attention_keys(chunk, window) + 32 * tokens);
        CHECK(cost.bandwidth.count() >= exact);
        CHECK(cost.bandwidth.count() <= exact + past + 1);  // a coefficient may be a picosecond too high
      }
    }
  }
}

TEST_CASE("a price rate rounds up, or down where it is taken off") {
  const PriceRate rate(2.5e-12);
  CHECK(rate.times(1) == 3);
  CHECK(rate.times(2) == 5);
  CHECK(rate.at_most_times(1) == 2);
  CHECK(rate.times(4'000'000'000'000'000) == 10'000'000'000'000'000);
}

TEST_CASE("attention that would overflow the clock is an error, and what just fits is priced") {
  // 3 layers of 32 FLOPs a pair, a picosecond each: 96 ps a pair. 10^8 new tokens after 2 * 10^8 others are
  // 2.5 * 10^16 pairs, 2.4 * 10^6 s; a tenth of both are a hundredth of it.
  const PrefillAttentionPrice prefill(two_heads(), 1, one_picosecond(1e-9));
  StepCost cost;
  const ChunkShape long_chunk{100'000'000, 200'000'000};
  CHECK_THROWS_AS(prefill.add({&long_chunk, 1}, cost), ConfigError);
  const ChunkShape short_chunk{10'000'000, 20'000'000};
  prefill.add({&short_chunk, 1}, cost);
  CHECK(to_seconds(cost.compute) == Approx(2.4e4).epsilon(1e-6));

  // A context token takes 96 ps: 10^16 of them 9.6 * 10^5 s, which is allowed, and twice as many are not.
  const DecodeAttentionPrice decode(two_heads(), 1, one_picosecond(1e-9));
  CHECK(to_seconds(decode_cost(decode, 1, 10'000'000'000'000'000).compute) == Approx(9.6e5).epsilon(1e-6));
  CHECK_THROWS_AS(decode_cost(decode, 1, 20'000'000'000'000'000), ConfigError);
}

TEST_CASE("a GPU too slow for a single token is an error") {
  const GpuSpec gpu = samples::gpu("standstill", 1e-30, 1e-30, 1);
  const Roofline roofline(gpu, samples::round_profile(), CostLevel::datasheet, in_one_node(1));
  CHECK_THROWS_AS(PrefillAttentionPrice(two_heads(), 1, roofline), ConfigError);
  CHECK_THROWS_AS(DecodeAttentionPrice(two_heads(), 1, roofline), ConfigError);
}

}  // namespace
}  // namespace inferometer
