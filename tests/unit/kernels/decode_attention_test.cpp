// Decode attention without a GPU: its reference, its work, what it refuses, and the kernel's program emulated
// on the host against the reference.

#include "kernels/attention/decode_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "kernels/common/random_element.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kernels/decode_emulation.hpp"
#include "tests/unit/kernels/decode_input.hpp"

namespace inferometer::kernels {
namespace {

using test::DecodeInput;
using test::largest_error;
using test::random_input;

std::int64_t drawn(std::uint64_t seed, std::uint64_t index, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(random_bits(seed, index) % static_cast<std::uint64_t>(most - least + 1));
}

// ---- the kernel's program ----

struct Case {
  ElementType query;
  ElementType kv;
  std::int64_t head_dim;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t window;
  std::vector<std::int32_t> contexts;
};

/// Small batches whose contexts begin and end within pages, with windows around page edges, and groups that
/// fill a tile of 16 heads, leave rows of it free, or need two.
std::vector<Case> cases() {
  using enum ElementType;
  return {
      {bf16, bf16, 64, 4, 4, 0, {1, 15, 16, 17}},    {bf16, bf16, 128, 8, 2, 0, {1, 200, 33}},
      {bf16, bf16, 256, 16, 1, 37, {70, 5, 37, 38}}, {fp16, fp16, 64, 16, 2, 1, {1, 16, 17, 90}},
      {fp16, fp16, 128, 20, 1, 0, {49, 130}},        {fp16, fp16, 256, 2, 1, 0, {64, 65}},
      {bf16, fp8_e4m3, 64, 8, 1, 0, {1, 31, 150}},   {fp16, fp8_e4m3, 128, 17, 1, 16, {40, 16, 33}},
      {bf16, fp8_e4m3, 128, 3, 3, 0, {100, 2}},      {bf16, fp8_e4m3, 256, 5, 1, 50, {66, 81, 0}},
  };
}

TEST_CASE("the program of the decode kernel gives the attention of the reference", "[kernels]") {
  std::uint64_t seed = 1;
  for (const Case& one : cases()) {
    const std::int32_t longest = *std::max_element(one.contexts.begin(), one.contexts.end());
    const DecodeAttentionShape shape{.batch = static_cast<std::int64_t>(one.contexts.size()),
                                     .longest_context = longest,
                                     .heads = one.heads,
                                     .kv_heads = one.kv_heads,
                                     .head_dim = one.head_dim,
                                     .window = one.window,
                                     .max_blocks = divide_up(longest, kPageTokens) + 1,
                                     .query_type = one.query,
                                     .kv_type = one.kv};
    REQUIRE(decode_attention_support(shape, 228 * 1024).ok());
    DecodeInput input = random_input(shape, one.contexts, ++seed);
    input.key_scale = one.kv == ElementType::fp8_e4m3 ? 0.75f : 1.0f;
    input.value_scale = one.kv == ElementType::fp8_e4m3 ? 3.0f : 1.0f;
    const std::int32_t pages = most_attended_pages(longest, static_cast<std::int32_t>(one.window));
    // In one piece, in the smallest, and as a GPU of 40 places would cut it.
    for (const SplitKvPlan& plan : {SplitKvPlan{1, pages}, SplitKvPlan{pages, 1},
                                    plan_split_kv(shape.batch * one.kv_heads, pages, 2, 40)}) {
      INFO("case " << seed << " splits " << plan.splits << " of " << plan.pages_per_split << " pages");
      CHECK(largest_error(input, emulated::decode_attention(input, plan), 1) < kDecodeAttentionTolerance);
    }
  }
}

TEST_CASE("large scores neither overflow nor vanish", "[kernels]") {
  const DecodeAttentionShape shape{
      .batch = 1, .longest_context = 60, .heads = 2, .kv_heads = 1, .head_dim = 64, .max_blocks = 4};
  for (const double size : {3000.0, -3000.0}) {
    DecodeInput input = random_input(shape, {60}, 77);
    for (std::uint32_t& bits : input.query) {
      bits = bits_of(size * value_of(bits, ElementType::bf16), ElementType::bf16);
    }
    CHECK(largest_error(input, emulated::decode_attention(input, {2, 2}), 1) < kDecodeAttentionTolerance);
  }
}

// ---- reference, work, refusals ----

TEST_CASE("attention of two tokens worked by hand", "[kernels]") {
  // Scores 2 ln 3 / sqrt(4) = ln 3 and 0: weights 3/4 and 1/4.
  const std::vector<double> query{2, 0, 0, 0};
  const double keys[2] = {std::log(3.0), 0};
  const double values[2] = {8, -4};
  const auto output = decode_attention_reference(
      query, 2, 0, [&](std::int64_t position, std::int64_t) { return keys[position]; },
      [&](std::int64_t position, std::int64_t column) {
        return values[position] + static_cast<double>(column);
      });
  CHECK(output[0] == Approx(5.0));
  CHECK(output[3] == Approx(8.0));
  const auto last_only = decode_attention_reference(
      query, 2, 1, [&](std::int64_t position, std::int64_t) { return keys[position]; },
      [&](std::int64_t position, std::int64_t) { return values[position]; });
  CHECK(last_only[0] == -4);
  const auto none = decode_attention_reference(
      query, 0, 0, [](std::int64_t, std::int64_t) { return 1.0; },
      [](std::int64_t, std::int64_t) { return 1.0; });
  CHECK(none == std::vector<double>(4, 0.0));
}

TEST_CASE("work is the cost model's", "[kernels]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::int64_t kv_heads = drawn(seed, 0, 1, 16);
    const bool fp8 = seed % 2 == 0;
    const DecodeAttentionShape shape{.batch = drawn(seed, 1, 1, 500),
                                     .longest_context = drawn(seed, 2, 1, 200000),
                                     .heads = kv_heads * drawn(seed, 3, 1, 16),
                                     .kv_heads = kv_heads,
                                     .head_dim = 64 << drawn(seed, 4, 0, 2),
                                     .window = seed % 3 == 0 ? 0 : drawn(seed, 5, 1, 10000),
                                     .kv_type = fp8 ? ElementType::fp8_e4m3 : ElementType::bf16};
    const KernelCall call{KernelFamily::decode_attention,
                          fp8 ? "fp8_kv" : "bf16",
                          {static_cast<double>(shape.batch), static_cast<double>(shape.longest_context),
                           static_cast<double>(shape.heads), static_cast<double>(shape.kv_heads),
                           static_cast<double>(shape.head_dim), static_cast<double>(shape.window)}};
    const KernelWork expected = kernel_work(call);
    const Work work = decode_attention_work(shape);
    INFO(to_string(call));
    CHECK(work.flops == expected.flops);
    CHECK(work.bytes == expected.hbm_bytes);
  }
}

DecodeAttentionShape supported_shape() {
  return {.batch = 2, .longest_context = 160, .heads = 8, .kv_heads = 2, .head_dim = 128, .max_blocks = 10};
}

TEST_CASE("shapes that the kernel cannot take are refused", "[kernels]") {
  constexpr int kShared = 164 * 1024;
  const auto supports = [](const auto& change) {
    DecodeAttentionShape shape = supported_shape();
    change(shape);
    const LaunchResult result = decode_attention_support(shape, kShared);
    CHECK(result.ok() == (result.reason[0] == '\0'));
    return result.ok();
  };
  using Shape = DecodeAttentionShape;
  CHECK(supports([](Shape&) {}));
  CHECK_FALSE(supports([](Shape& shape) { shape.batch = 0; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.kv_heads = 0; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.heads = 9; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.head_dim = 96; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.query_type = ElementType::fp32; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.kv_type = ElementType::fp16; }));
  CHECK(supports([](Shape& shape) { shape.kv_type = ElementType::fp8_e4m3; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.longest_context = 0; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.longest_context = 161; }));
  CHECK(supports([](Shape& shape) { shape.window = 1; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.window = -1; }));
  CHECK_FALSE(supports([](Shape& shape) { shape.batch = INT32_MAX; }));
  CHECK_FALSE(decode_attention_support(supported_shape(), 32 * 1024).ok());
}

TEST_CASE("the plan of a call fills the GPU and keeps partial results small", "[kernels]") {
  constexpr int kSms = 132;
  constexpr int kShared = 228 * 1024;
  DecodeAttentionShape shape = supported_shape();
  shape.longest_context = 32768;
  shape.max_blocks = 2048;
  const SplitKvPlan plan = decode_attention_plan(shape, kSms, kShared);
  // 3 blocks of 66 KB and the query a multiprocessor, 4 blocks without splits: about 99 splits fill it once.
  CHECK(plan.splits * 4 >= static_cast<std::int32_t>(0.85 * 3 * kSms) / 4 * 4);
  CHECK(decode_attention_workspace_bytes(shape, plan) ==
        static_cast<std::size_t>(2 * 8 * plan.splits) * (128 + 2) * 4);
  for (const ElementType type : {ElementType::bf16, ElementType::fp8_e4m3}) {
    shape.kv_type = type;
    for (const std::int64_t heads : {2, 8, 16, 32, 64}) {
      shape.heads = heads;
      const SplitKvPlan cut = decode_attention_plan(shape, kSms, kShared);
      const double kv = 2.0 * bytes_of(type) * 16 * cut.pages_per_split * 128;
      const double partial = 2.0 * 4 * 128 * static_cast<double>(std::min<std::int64_t>(heads / 2, 16));
      INFO("heads " << heads << " bytes " << bytes_of(type));
      CHECK(cut.pages_per_split >= 8);
      CHECK(partial <= kv / 8);
    }
  }
  shape.batch = 4096;
  CHECK(decode_attention_workspace_bytes(shape, decode_attention_plan(shape, kSms, kShared)) == 0);
}

}  // namespace
}  // namespace inferometer::kernels
