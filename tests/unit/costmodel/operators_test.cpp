#include "costmodel/operators.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

Operator named(const std::vector<Operator>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Operator& o) { return o.name == name; });
  REQUIRE(found != list.end());
  return *found;
}

bool has(const std::vector<Operator>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const Operator& o) { return o.name == name; });
}

/// The same count as the closed form, one token after the other.
std::int64_t pairs_one_by_one(std::int64_t tokens, std::int64_t past, std::int64_t window) {
  std::int64_t sum = 0;
  for (std::int64_t i = 1; i <= tokens; ++i) {
    sum += std::min(past + i, window);
  }
  return sum;
}

TEST_CASE("token operators of Llama-3-8B match the counts worked by hand") {
  const std::vector<Operator> list = token_operators(samples::llama_3_8b(), 1, 10);

  const Operator qkv = named(list, "qkv projection");
  CHECK(qkv.family == OperatorFamily::gemm);
  CHECK(qkv.repeats == 32);
  CHECK(qkv.flops.count() == 2.0 * 10 * 4096 * 6144);  // (32 + 2 * 8) heads of 128
  CHECK(qkv.hbm_bytes.count() == 2 * 4096 * 6144 + 2 * 10 * (4096 + 6144));
  CHECK(named(list, "o projection").flops.count() == 2.0 * 10 * 4096 * 4096);
  CHECK(named(list, "o projection").hbm_bytes.count() == 33'554'432 + 163'840);
  CHECK(named(list, "gate + up projection").flops.count() == 2.0 * 10 * 4096 * 28672);
  CHECK(named(list, "gate + up projection").hbm_bytes.count() == 234'881'024 + 2 * 10 * (4096 + 28672));
  CHECK(named(list, "down projection").flops.count() == 2.0 * 10 * 14336 * 4096);
  CHECK(named(list, "down projection").hbm_bytes.count() == 117'440'512 + 2 * 10 * (4096 + 14336));

  const Operator norm = named(list, "norm + residual");
  CHECK(norm.repeats == 65);
  CHECK(norm.flops.count() == 4.0 * 10 * 4096);
  CHECK(norm.hbm_bytes.count() == 4 * 10 * 4096 * 2);
  const Operator rope = named(list, "rope + kv write");
  CHECK(rope.flops.count() == 6.0 * 10 * 40 * 128);
  CHECK(rope.hbm_bytes.count() == 2 * 2 * 10 * 40 * 128 + 2 * 2 * 10 * 8 * 128);
  CHECK(named(list, "silu x up").flops.count() == 5.0 * 10 * 14336);
  CHECK(named(list, "silu x up").hbm_bytes.count() == 3 * 2 * 10 * 14336);
  CHECK(named(list, "embedding").flops.count() == 0);
  CHECK(named(list, "embedding").hbm_bytes.count() == 2 * 10 * 4096 * 2);
  CHECK_FALSE(has(list, "all-reduce"));
  CHECK_FALSE(has(list, "qk norm"));
}

TEST_CASE("every matmul parameter is multiplied once a token") {
  const ModelSpec model = samples::llama_3_8b();
  double flops = 0;
  for (const auto& list : {token_operators(model, 1, 1), row_operators(model, 1, 1)}) {
    for (const Operator& part : list) {
      flops +=
          part.family == OperatorFamily::gemm ? part.flops.count() * static_cast<double>(part.repeats) : 0;
    }
  }
  CHECK(flops == 2.0 * 7'504'658'432);  // 32 * (25.2 + 16.8 + 117.4 + 58.7 M) + 525.3 M of lm_head
}

TEST_CASE("biases and QK norm add what they read and compute") {
  const std::vector<Operator> list = token_operators(samples::odd_model(), 1, 7);
  // 8 + 2 * 2 heads of 6: 72 columns.
  CHECK(named(list, "qkv projection").flops.count() == 2.0 * 7 * 40 * 72 + 7 * 72);
  CHECK(named(list, "qkv projection").hbm_bytes.count() == 2 * 40 * 72 + 2 * 7 * (40 + 72) + 2 * 72);
  CHECK(named(list, "o projection").flops.count() == 2.0 * 7 * 48 * 40 + 7 * 40);
  CHECK(named(list, "o projection").hbm_bytes.count() == 2 * 48 * 40 + 2 * 7 * (48 + 40) + 2 * 40);
  CHECK(named(list, "qk norm").repeats == 3);
  CHECK(named(list, "qk norm").flops.count() == 4.0 * 7 * 60);
  CHECK(named(list, "qk norm").hbm_bytes.count() == 2 * 2 * 7 * 60);
}

TEST_CASE("products in other number formats read fewer bytes, lm_head does not") {
  const auto bytes = [](std::string_view format, std::string_view name) {
    ModelSpec model = samples::llama_3_8b();
    model.weight_format = format;
    return named(token_operators(model, 1, 10), name).hbm_bytes.count();
  };
  // Weights 4096 x 6144; ten rows of 4096 inputs and 6144 outputs, these at 2 B.
  constexpr std::int64_t kWeights = 4096 * 6144;
  CHECK(bytes("fp8", "qkv projection") == kWeights + 10 * (4096 + 2 * 6144));
  CHECK(bytes("fp8_block", "qkv projection") == kWeights + kWeights / 4096 + 10 * (4096 + 2 * 6144));
  CHECK(bytes("int8_weights", "qkv projection") == kWeights + 10 * 2 * (4096 + 6144));
  CHECK(bytes("int4_weights", "qkv projection") == kWeights / 2 + kWeights / 64 + 10 * 2 * (4096 + 6144));
  CHECK(bytes("fp8", "down projection") == 4096 * 14336 + 10 * (14336 + 2 * 4096));
  CHECK(bytes("fp8", "norm + residual") == bytes("bf16", "norm + residual"));

  ModelSpec model = samples::llama_3_8b();
  model.weight_format = "fp8";
  model.kv_bytes = 1;
  CHECK(named(token_operators(model, 1, 10), "qkv projection").flops.count() == 2.0 * 10 * 4096 * 6144);
  CHECK(named(row_operators(model, 1, 10), "lm_head").hbm_bytes ==
        named(row_operators(samples::llama_3_8b(), 1, 10), "lm_head").hbm_bytes);
  // One byte an element of keys and values, still two of queries and outputs.
  CHECK(decode_attention(model, 1, 3, 500, false).hbm_bytes.count() == 2 * 500 * 8 * 128 + 4 * 3 * 32 * 128);
  CHECK(named(token_operators(model, 1, 10), "rope + kv write").hbm_bytes.count() ==
        2 * 2 * 10 * 40 * 128 + 2 * 10 * 8 * 128);
}

TEST_CASE("row operators count sampled rows only") {
  const std::vector<Operator> list = row_operators(samples::llama_3_8b(), 1, 3);
  const Operator head = named(list, "lm_head");
  CHECK(head.repeats == 1);
  CHECK(head.flops.count() == 2.0 * 3 * 4096 * 128256);
  CHECK(head.hbm_bytes.count() == 2 * 4096 * 128256 + 2 * 3 * 4096 + 4 * 3 * 128256);
  CHECK(named(list, "sampling").flops.count() == 10.0 * 3 * 128256);
  CHECK(named(list, "sampling").hbm_bytes.count() == 3 * 4 * 3 * 128256);
  CHECK(row_operators(samples::llama_3_8b(), 1, 0).empty());
}

TEST_CASE("tensor parallelism divides heads, FFN and vocabulary, not norms") {
  const ModelSpec model = samples::llama_3_8b();
  const std::vector<Operator> list = token_operators(model, 4, 10);
  CHECK(named(list, "qkv projection").flops.count() == 2.0 * 10 * 4096 * 1536);
  CHECK(named(list, "o projection").hbm_bytes.count() == 2 * 1024 * 4096 + 2 * 10 * (1024 + 4096));
  CHECK(named(list, "down projection").flops.count() == 2.0 * 10 * 3584 * 4096);
  CHECK(named(list, "norm + residual").hbm_bytes.count() == 4 * 10 * 4096 * 2);
  CHECK(named(list, "all-reduce").family == OperatorFamily::collective);
  CHECK(named(list, "all-reduce").repeats == 64);
  CHECK(named(list, "all-reduce").link_bytes.count() == 2 * 3 * (10 * 4096 * 2) / 4);
  CHECK(named(list, "all-reduce").hbm_bytes.count() == 0);

  const std::vector<Operator> rows = row_operators(model, 4, 3);
  CHECK(named(rows, "lm_head").flops.count() == 2.0 * 3 * 4096 * 32064);
  CHECK(named(rows, "logits gather").link_bytes.count() == 3 * (3 * 32064 * 2));
  CHECK(named(rows, "sampling").hbm_bytes.count() == 3 * 4 * 3 * 128256);
}

TEST_CASE("KV heads are repeated when there are more GPUs than KV heads") {
  ModelSpec model = samples::llama_3_8b();
  model.kv_heads = 2;
  CHECK(shard(model, 2).kv_heads == 1);
  CHECK(shard(model, 8).kv_heads == 1);
  CHECK(shard(model, 8).heads == 4);
  // 4 query heads, one key and one value head of 128.
  CHECK(named(token_operators(model, 8, 1), "qkv projection").flops.count() == 2.0 * 4096 * 6 * 128);
  CHECK(decode_attention(model, 8, 1, 100, false).hbm_bytes.count() == 2 * 2 * 100 * 128 + 2 * 2 * 4 * 128);
}

TEST_CASE("a split that does not come out even is refused and the possible ones named") {
  ModelSpec model = samples::llama_3_8b();
  model.heads = 28;
  model.kv_heads = 4;
  for (const std::int64_t degree : {0, 3, 5, 7, 8, 16}) {
    CHECK_THROWS_AS(shard(model, degree), ConfigError);
  }
  try {
    shard(model, 8);
  } catch (const ConfigError& error) {
    CHECK(error.diagnostics().at(0).message ==
          "tensor_parallel 8 cannot split llama-3-8b (28 heads, 4 KV heads) over the GPUs of one node; "
          "possible: "
          "1, 2 or 4");
  }
}

TEST_CASE("attention pairs and keys: closed form equals the sum over tokens") {
  for (const std::int64_t window : {1, 2, 5, 8, 100}) {
    for (std::int64_t past = 0; past <= 12; ++past) {
      for (std::int64_t tokens = 1; tokens <= 12; ++tokens) {
        CAPTURE(window, past, tokens);
        CHECK(attention_pairs({tokens, past}, window) == pairs_one_by_one(tokens, past, window));
        CHECK(attention_pairs({tokens, past}, {}) == pairs_one_by_one(tokens, past, past + tokens));
        // The first new token sees window - 1 tokens before itself.
        CHECK(attention_keys({tokens, past}, window) == tokens + std::min(past, window - 1));
        CHECK(attention_keys({tokens, past}, {}) == past + tokens);
      }
    }
  }
}

TEST_CASE("prefill attention sums FLOPs and bytes over its chunks") {
  const ModelSpec model = samples::odd_model();
  const ChunkShape chunks[] = {{5, 0}, {3, 20}};
  const Operator attention = prefill_attention(model, 2, chunks);
  const std::int64_t pairs = 15 + (21 + 22 + 23);
  CHECK(attention.repeats == 3);
  CHECK(attention.flops.count() == 4.0 * 4 * 6 * static_cast<double>(pairs));
  CHECK(attention.hbm_bytes.count() == 2 * 2 * 1 * 6 * (5 + 23) + 2 * 2 * 8 * 4 * 6);
  CHECK(attention.flops_per_key.count() == 4.0 * 4 * 6 * 8);
}

TEST_CASE("decode attention reads each context token once") {
  const Operator attention = decode_attention(samples::llama_3_8b(), 1, 64, 64 * 1024, false);
  CHECK(attention.repeats == 32);
  CHECK(attention.flops.count() == 4.0 * 32 * 128 * 64 * 1024);
  CHECK(attention.hbm_bytes.count() == 4096LL * 64 * 1024 + 2 * 2 * 64 * 4096);
  CHECK(attention.sequence_heads == 64 * 8);
  CHECK_FALSE(attention.shares_launch);
}

TEST_CASE("a step lists its operators in order of execution") {
  const ChunkShape chunk{100, 50};
  const StepShape mixed{.decodes = 4, .decode_context = 400, .sampled_rows = 5, .chunks = {&chunk, 1}};
  const std::vector<Operator> list = step_operators(samples::llama_3_8b(), 2, mixed);
  std::vector<std::string> names;
  for (const Operator& part : list) {
    names.emplace_back(part.name);
  }
  CHECK(names == std::vector<std::string>{"embedding", "norm + residual", "qkv projection", "rope + kv write",
                                          "prefill attention", "decode attention", "o projection",
                                          "gate + up projection", "silu x up", "down projection",
                                          "all-reduce", "lm_head", "logits gather", "sampling"});
  CHECK(named(list, "qkv projection").flops.count() == 2.0 * 104 * 4096 * 3072);
  CHECK(named(list, "decode attention").shares_launch);

  const StepShape decode{.decodes = 4, .decode_context = 400};
  const std::vector<Operator> alone = step_operators(samples::llama_3_8b(), 1, decode);
  CHECK_FALSE(named(alone, "decode attention").shares_launch);
  CHECK_FALSE(has(alone, "prefill attention"));
  CHECK_FALSE(has(alone, "lm_head"));
}

}  // namespace
}  // namespace inferometer
