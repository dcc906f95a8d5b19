// Decode attention without a GPU: its reference, its work, what it refuses, and the kernel's program emulated
// on the host against the reference.

#include "kernels/attention/decode_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "kernels/common/random_element.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

std::int64_t drawn(std::uint64_t seed, std::uint64_t index, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(random_bits(seed, index) % static_cast<std::uint64_t>(most - least + 1));
}

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
