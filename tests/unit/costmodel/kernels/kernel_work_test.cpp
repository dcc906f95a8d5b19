// The work of kernels against the operators of a step, and against formulas written out by hand.

#include "costmodel/kernels/kernel_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

using test::call_of;

/// Few, odd sizes, without biases and norms of their own.
ModelSpec odd_plain_model() {
  ModelSpec model = samples::odd_model();
  model.qk_norm = model.attention_bias = model.output_bias = false;
  return model;
}

Operator named(const std::vector<Operator>& operators, std::string_view name) {
  const auto found =
      std::find_if(operators.begin(), operators.end(), [&](const Operator& one) { return one.name == name; });
  REQUIRE(found != operators.end());
  return *found;
}

void check_same(const KernelCall& call, const Operator& expected) {
  INFO(to_string(call));
  const KernelWork work = kernel_work(call);
  CHECK(work.flops == expected.flops.count());
  CHECK(work.hbm_bytes == static_cast<double>(expected.hbm_bytes.count()));
  CHECK(work.link_bytes == static_cast<double>(expected.link_bytes.count()));
}

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

TEST_CASE("GEMMs do the work of a step's projections") {
  for (const ModelSpec& model : {odd_plain_model(), samples::llama_3_8b()}) {
    for (const std::int64_t tokens : {1, 17, 2048}) {
      const std::vector<Operator> operators = token_operators(model, 2, tokens);
      const ModelShard local = shard(model, 2);
      const double rows = as_double(tokens), hidden = as_double(model.hidden);
      const double queries = as_double(local.heads * model.head_dim);
      const double keys = as_double(local.kv_heads * model.head_dim);
      check_same(test::gemm_call(rows, queries + 2 * keys, hidden), named(operators, "qkv projection"));
      check_same(test::gemm_call(rows, hidden, queries), named(operators, "o projection"));
      check_same(test::gemm_call(rows, as_double(2 * local.ffn), hidden),
                 named(operators, "gate + up projection"));
      check_same(test::gemm_call(rows, hidden, as_double(local.ffn)), named(operators, "down projection"));
    }
  }
}

TEST_CASE("prefill attention does the work of a step's, with a past, a window and both") {
  ModelSpec model = odd_plain_model();
  // Windows below, at and above past and tokens.
  for (const std::int64_t window : {0, 1, 5, 30, 31, 99}) {
    model.sliding_window = window > 0 ? std::optional(window) : std::nullopt;
    for (const ChunkShape& chunk : {ChunkShape{1, 0}, ChunkShape{1, 30}, ChunkShape{13, 0}, ChunkShape{13, 4},
                                    ChunkShape{13, 30}, ChunkShape{50, 31}}) {
      const std::vector<ChunkShape> chunks(3, chunk);
      check_same(call_of(KernelFamily::prefill_attention, "bf16",
                         {3, as_double(chunk.tokens), as_double(chunk.past), 8, 2, 6, as_double(window)}),
                 prefill_attention(model, 1, chunks));
    }
  }
}

TEST_CASE("decode attention does the work of a step's, a window bounds the keys it reads") {
  const ModelSpec model = odd_plain_model();
  const auto call = [](double batch, double context, double window) {
    return call_of(KernelFamily::decode_attention, "bf16", {batch, context, 8, 2, 6, window});
  };
  check_same(call(1, 1, 0), decode_attention(model, 1, 1, 1, false));
  check_same(call(7, 100, 0), decode_attention(model, 1, 7, 700, false));
  check_same(call(7, 100, 99), decode_attention(model, 1, 7, 7 * 99, false));
  check_same(call(7, 100, 100), decode_attention(model, 1, 7, 700, false));
  check_same(call(7, 100, 101), decode_attention(model, 1, 7, 700, false));
}

TEST_CASE("latent attention decodes at 241.8 FLOP a byte, and split heads read the cache as often") {
  // 2 x 128 (576 + 512) FLOPs and 576 elements a cached token; queries and outputs of the 128 heads beside
  // them.
  const KernelWork decode = kernel_work(call_of(KernelFamily::mla_decode, "bf16", {3, 1000, 128}));
  CHECK(decode.flops == 3 * 1000 * 278'528.0);
  CHECK(decode.hbm_bytes == 3 * (1000 * 1152.0 + 128 * (576 + 512) * 2));
  CHECK(kernel_work(call_of(KernelFamily::mla_decode, "fp8_kv", {3, 1000, 128})).hbm_bytes ==
        3 * (1000 * 576.0 + 128 * (576 + 512) * 2));
  const KernelCall split = call_of(KernelFamily::mla_decode, "bf16", {3, 1000, 16});
  CHECK(kv_bytes(split) == 3 * 1000 * 1152.0);
  CHECK(kernel_work(split).flops == decode.flops / 8);
  CHECK(std::abs(278'528.0 / 1152 - 241.8) < 0.05);
}

TEST_CASE("latent attention of a prompt: 192 elements of a query against a key, 128 of a value") {
  // 3 new tokens over 2 cached ones: 3 + 4 + 5 pairs, 81,920 FLOPs each with 128 heads.
  const KernelWork work = kernel_work(call_of(KernelFamily::mla_prefill, "bf16", {2, 3, 2, 128}));
  CHECK(work.flops == 2 * 12 * 81'920.0);
  // Keys and values of 5 tokens, queries and outputs of 3, and what those leave in the cache.
  const double keys = 5 * 128 * (192 + 128) * 2, own = 3 * 128 * (192 + 128) * 2;
  CHECK(work.hbm_bytes == 2 * (keys + own + 3 * 576 * 2));
  CHECK(kernel_work(call_of(KernelFamily::mla_prefill, "fp8_kv", {2, 3, 2, 128})).hbm_bytes ==
        2 * (keys + own + 3 * 576));
}

TEST_CASE("an all-reduce sends what a step's does") {
  const ModelSpec model = samples::llama_3_8b();
  for (const std::int64_t gpus : {2, 4, 8}) {
    const Operator reduce = named(token_operators(model, gpus, 24), "all-reduce");
    const double bytes = 2.0 * 24 * as_double(model.hidden);
    for (const char* variant : {"all_reduce", "all_reduce_eager", "nccl_all_reduce"}) {
      check_same(test::collective_call(as_double(gpus), bytes, variant), reduce);
    }
  }
}

TEST_CASE("other collectives send the parts of the other GPUs once, a message goes whole") {
  for (const char* variant : {"all_gather", "reduce_scatter", "all_to_all"}) {
    CHECK(kernel_work(test::collective_call(4, 1000, variant)).link_bytes == 750);
  }
  CHECK(kernel_work(test::collective_call(2, 1000, "send_recv")).link_bytes == 1000);
}

TEST_CASE("elementwise operators pass over their rows two or three times, in 16 bit") {
  const auto bytes = [](const char* variant) {
    return kernel_work(call_of(KernelFamily::elementwise, variant, {10, 7})).hbm_bytes;
  };
  for (const char* variant : {"embedding", "norm", "rope"}) {
    CHECK(bytes(variant) == 2 * 2 * 70);
  }
  for (const char* variant : {"silu_mul", "add"}) {
    CHECK(bytes(variant) == 3 * 2 * 70);
  }
  CHECK(bytes("add_norm") == 4 * 2 * 70);
  CHECK(bytes("kv_copy") == 2 * 2 * 70);
  CHECK(bytes("copy") == 2 * 2 * 70);
  CHECK(bytes("argmax") == 4 * 70);
  const ModelSpec model = odd_plain_model();
  CHECK(kernel_work(call_of(KernelFamily::elementwise, "silu_mul", {10, as_double(model.ffn)})).hbm_bytes ==
        as_double(named(token_operators(model, 1, 10), "silu x up").hbm_bytes.count()));
}

TEST_CASE("elementwise kernels are as much work as the operators of a step that they stand for") {
  const ModelSpec model = odd_plain_model();
  const auto check_equal = [](const KernelCall& call, const Operator& part) {
    CHECK(call == *part.call);
    CHECK(kernel_work(call).flops == part.flops.count());
    CHECK(kernel_work(call).hbm_bytes == as_double(part.hbm_bytes.count()));
  };
  const double hidden = as_double(model.hidden), vocab = as_double(model.vocab);
  const std::vector<Operator> tokens = token_operators(model, 1, 10);
  check_equal(call_of(KernelFamily::elementwise, "embedding", {10, hidden}), named(tokens, "embedding"));
  check_equal(call_of(KernelFamily::elementwise, "add_norm", {10, hidden}), named(tokens, "norm + residual"));
  check_equal(call_of(KernelFamily::elementwise, "silu_mul", {10, as_double(model.ffn)}),
              named(tokens, "silu x up"));
  check_equal(call_of(KernelFamily::elementwise, "top_p", {3, vocab}),
              named(row_operators(model, 1, 3), "sampling"));
}

TEST_CASE("number formats: bytes of weights with their scales, bytes of inputs, the unit that computes") {
  struct Format {
    const char* name;
    double weight_bits, input_bytes;
    MathUnit unit;
  };
  // A block of 128 x 128 has a scale of 32 bit, a group of 128 one of 16, of 16 or 32 one of 8.
  constexpr std::array<Format, 10> kFormats = {{{"bf16", 16, 2, MathUnit::bf16},
                                                {"fp8", 8, 1, MathUnit::fp8},
                                                {"fp8_block", 8 + 32.0 / 16384, 1, MathUnit::fp8},
                                                {"fp4", 4 + 8.0 / 16, 0.5, MathUnit::fp8},
                                                {"int8", 8, 1, MathUnit::int8},
                                                {"mxfp4", 4 + 8.0 / 32, 1, MathUnit::fp8},
                                                {"int8_weights", 8, 2, MathUnit::bf16},
                                                {"int4_weights", 4 + 16.0 / 128, 2, MathUnit::bf16},
                                                {"mxfp4_weights", 4 + 8.0 / 32, 2, MathUnit::bf16},
                                                {"fp4_weights", 4 + 8.0 / 16, 2, MathUnit::bf16}}};
  CHECK(info(KernelFamily::gemm).variants.size() == kFormats.size());
  for (const Format& format : kFormats) {
    INFO(format.name);
    const KernelWork work = kernel_work(test::gemm_call(3, 256, 512, format.name));
    CHECK(work.flops == 2.0 * 3 * 256 * 512);
    CHECK(work.hbm_bytes ==
          Approx(format.weight_bits / 8 * 256 * 512 + format.input_bytes * 3 * 512 + 2.0 * 3 * 256)
              .epsilon(1e-12));
    CHECK(work.unit == format.unit);
  }
}

TEST_CASE("attention over a cache of 8 bit reads half of it, fp8 computes in 8 bit, too") {
  const auto work = [](const char* variant) {
    return kernel_work(call_of(KernelFamily::decode_attention, variant, {2, 50, 8, 2, 16, 0}));
  };
  const double cache = 2.0 * 2 * 50 * 2 * 16;    // keys and values, a byte each
  const double rows = 2.0 * 2 * (2.0 * 8 * 16);  // queries in, results out, 16 bit
  CHECK(work("bf16").hbm_bytes == 2 * cache + rows);
  CHECK(work("fp8_kv").hbm_bytes == cache + rows);
  CHECK(work("fp8").hbm_bytes == cache + rows);
  CHECK(work("bf16").flops == work("fp8").flops);
  CHECK(work("fp8_kv").unit == MathUnit::bf16);
  CHECK(work("fp8").unit == MathUnit::fp8);
  const auto prefill = [](const char* variant) {
    return kernel_work(call_of(KernelFamily::prefill_attention, variant, {1, 10, 5, 8, 2, 16, 0}));
  };
  CHECK(prefill("bf16").hbm_bytes - prefill("fp8_kv").hbm_bytes == 2.0 * 15 * 2 * 16);
  CHECK(prefill("fp8").unit == MathUnit::fp8);
}

TEST_CASE("kv_bytes: keys and values that are read, none of other families") {
  CHECK(kv_bytes(test::decode_call(3, 100, 8, 4)) == 2.0 * 2 * 3 * 100 * 4 * 128);
  CHECK(kv_bytes(call_of(KernelFamily::decode_attention, "fp8", {3, 100, 8, 4, 128, 10})) ==
        2.0 * 1 * 3 * 10 * 4 * 128);
  CHECK(kv_bytes(test::prefill_call(3, 10, 90, 8, 4)) == 2.0 * 2 * 3 * 100 * 4 * 128);
  // The first of ten tokens reaches 19 back, the last has nine more before it: 20 + 10 - 1.
  CHECK(kv_bytes(call_of(KernelFamily::prefill_attention, "bf16", {3, 10, 90, 8, 4, 128, 20})) ==
        2.0 * 2 * 3 * 29 * 4 * 128);
  CHECK(kv_bytes(test::gemm_call(1, 2, 3)) == 0);
}

TEST_CASE("routed experts: three products a choice, weights of those that are reached") {
  // One token of two experts out of four, width 32, FFN 24: both are read, whatever they are.
  const auto call = [](double tokens, double tensor_parallel, double expert_parallel) {
    return call_of(KernelFamily::moe, "bf16", {tokens, 32, 24, 4, 2, tensor_parallel, expert_parallel, 0});
  };
  const KernelWork one = kernel_work(call(1, 1, 1));
  CHECK(one.flops == 2.0 * 3 * 2 * 32 * 24);
  CHECK(one.hbm_bytes == Approx(2.0 * 3 * 2 * 32 * 24 + (2.0 + 2) * 32 + 3.0 * 2 * 2 * 24).epsilon(1e-12));
  // Three tokens miss an expert with probability (1/2)^3.
  const KernelWork three = kernel_work(call(3, 1, 1));
  CHECK(three.flops == 3 * one.flops);
  CHECK(three.hbm_bytes ==
        Approx(2.0 * 3 * (4 * (1 - 0.125)) * 32 * 24 + (2.0 + 2) * 3 * 32 + 3.0 * 2 * 3 * 2 * 24)
            .epsilon(1e-12));
  // So many that none is missed: all weights.
  CHECK(kernel_work(call(1000, 1, 1)).hbm_bytes ==
        Approx(2.0 * 3 * 4 * 32 * 24 + (2.0 + 2) * 1000 * 32 + 3.0 * 2 * 1000 * 2 * 24).epsilon(1e-12));
  // Columns, or experts and choices, over two GPUs; tokens enter each.
  const double tokens_alone = (2.0 + 2) * 3 * 32;
  for (const KernelWork& half : {kernel_work(call(3, 2, 1)), kernel_work(call(3, 1, 2))}) {
    CHECK(half.flops == three.flops / 2);
    CHECK(half.hbm_bytes == Approx((three.hbm_bytes - tokens_alone) / 2 + tokens_alone).epsilon(1e-12));
  }
}

TEST_CASE("the datasheet's time is that of the higher roof, at the peak of the unit") {
  GpuSpec gpu = samples::round_gpu();  // 1e15 FLOP/s, 1e12 B/s, 1e11 B/s of link
  gpu.fp8_peak = FlopsPerSecond(2e15);
  CHECK(datasheet_seconds({.flops = 3e15, .hbm_bytes = 2e12, .link_bytes = 1e11}, gpu) == 3);
  CHECK(datasheet_seconds({.flops = 1e15, .hbm_bytes = 2e12, .link_bytes = 1e11}, gpu) == 2);
  CHECK(datasheet_seconds({.flops = 1e15, .hbm_bytes = 2e12, .link_bytes = 5e11}, gpu) == 5);
  CHECK(datasheet_seconds({.flops = 3e15, .unit = MathUnit::fp8}, gpu) == 1.5);
  CHECK(datasheet_seconds({.flops = 3e15, .unit = MathUnit::int8}, gpu) == 3);  // no such unit
  gpu.nvlink_per_direction.reset();
  CHECK(datasheet_seconds({.link_bytes = 31.5e9}, gpu) == 1);
}

TEST_CASE("the host has no work that a GPU could see") {
  const KernelWork work = kernel_work(call_of(KernelFamily::host, "sample", {8, 1}));
  CHECK(work.flops + work.hbm_bytes + work.link_bytes == 0);
}

}  // namespace
}  // namespace inferometer
