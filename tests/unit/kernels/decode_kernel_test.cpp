// The decode kernel itself, with emulated instructions: blocks, warps and lanes on the host, against the
// reference.

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/attention/decode_arguments.hpp"
#include "kernels/attention/decode_block.cuh"
#include "tests/support/catch.hpp"
#include "tests/support/emulated_gpu/block.hpp"
#include "tests/unit/kernels/decode_input.hpp"

namespace inferometer::kernels {
namespace {

using test::DecodeInput;
using test::largest_error;
using test::random_input;
using testing::CopyTiming;

template <class Format>
void run_blocks(const DecodeArguments& arguments, std::int64_t blocks, testing::GpuTiming timing) {
  for (std::int64_t number = 0; number < blocks; ++number) {
    copy_groups.clear();
    // Up to an address that is a multiple of 128, as on a GPU.
    testing::Block block(kDecodeThreads, static_cast<int>(sizeof(DecodeShared<Format>)) + 128, timing);
    void* shared = block.shared_begin();
    std::size_t space = sizeof(DecodeShared<Format>) + 128;
    REQUIRE(std::align(128, sizeof(DecodeShared<Format>), shared, space) != nullptr);
    block.run([&] {
      attend_split(arguments, *static_cast<DecodeShared<Format>*>(shared), static_cast<unsigned>(number),
                   testing::Block::current().thread());
    });
    for (const auto& [thread, groups] : copy_groups) {
      REQUIRE(std::all_of(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); }));
    }
  }
  for (std::int64_t head = 0; arguments.plan.splits > 1 && head < arguments.query_heads; ++head) {
    testing::Block block(kDecodeThreads, 0, timing);
    SplitSums<Format::kHeadDim> sums;
    block.run(
        [&] { reduce_splits(arguments, sums, static_cast<int>(head), testing::Block::current().thread()); });
  }
}

template <ElementType kKv>
void run_kernels(const DecodeArguments& arguments, const DecodeAttentionShape& shape,
                 testing::GpuTiming timing) {
  const std::int64_t blocks = shape.batch * shape.kv_heads * arguments.head_tiles * arguments.plan.splits;
  if (shape.head_dim == 64) {
    run_blocks<DecodeFormat<kKv, 64>>(arguments, blocks, timing);
  } else if (shape.head_dim == 128) {
    run_blocks<DecodeFormat<kKv, 128>>(arguments, blocks, timing);
  } else {
    run_blocks<DecodeFormat<kKv, 256>>(arguments, blocks, timing);
  }
}

/// A buffer of the GPU: elements in their own size, at a multiple of 16 bytes.
std::vector<std::uint64_t> packed(const std::vector<std::uint32_t>& elements, ElementType type) {
  const auto size = static_cast<std::size_t>(bytes_of(type));
  std::vector<std::uint64_t> buffer(elements.size() * size / sizeof(std::uint64_t) + 1);
  auto* bytes = reinterpret_cast<unsigned char*>(buffer.data());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(bytes + i * size, &elements[i], size);
  }
  return buffer;
}

std::vector<double> output_of(const DecodeInput& input, const SplitKvPlan& plan, testing::GpuTiming timing) {
  const DecodeAttentionShape& shape = input.shape;
  const auto query = packed(input.query, shape.query_type);
  const auto keys = packed(input.keys, shape.kv_type);
  const auto values = packed(input.values, shape.kv_type);
  // What is never written would be NaN.
  std::vector<std::uint64_t> workspace(
      decode_attention_workspace_bytes(shape, plan) / sizeof(std::uint64_t) + 1, ~std::uint64_t{0});
  std::vector<std::uint64_t> output(input.query.size() / 4 + 1, ~std::uint64_t{0});
  const DecodeArguments arguments = decode_arguments(shape,
                                                     {.query = query.data(),
                                                      .keys = keys.data(),
                                                      .values = values.data(),
                                                      .block_table = input.block_table.data(),
                                                      .contexts = input.contexts.data(),
                                                      .key_scale = input.key_scale,
                                                      .value_scale = input.value_scale,
                                                      .workspace = workspace.data(),
                                                      .output = output.data()},
                                                     plan);
  switch (shape.kv_type) {
    case ElementType::bf16:
      run_kernels<ElementType::bf16>(arguments, shape, timing);
      break;
    case ElementType::fp16:
      run_kernels<ElementType::fp16>(arguments, shape, timing);
      break;
    default:
      run_kernels<ElementType::fp8_e4m3>(arguments, shape, timing);
  }
  std::vector<double> elements(input.query.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const unsigned char*>(output.data()) + 2 * i, 2);
    elements[i] = value_of(bits, shape.query_type);
  }
  return elements;
}

struct Case {
  ElementType query;
  ElementType kv;
  std::int64_t head_dim;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t window;
  SplitKvPlan plan;
  std::vector<std::int32_t> contexts;
};

/// Small batches whose contexts begin and end within pages, with windows around page edges, groups that fill
/// a tile of 16 heads, leave rows of it free, or need two, and splits that some sequences do not reach.
std::vector<Case> cases() {
  using enum ElementType;
  return {
      {bf16, bf16, 64, 4, 2, 0, {1, 9}, {1, 15, 16, 17, 130}},
      {bf16, bf16, 128, 8, 2, 0, {4, 4}, {1, 200, 33, 0}},
      {bf16, bf16, 256, 16, 1, 37, {3, 1}, {70, 5, 37, 38}},
      {fp16, fp16, 64, 16, 1, 1, {1, 1}, {1, 16, 17, 90}},
      {fp16, fp16, 128, 20, 1, 0, {2, 8}, {49, 250}},
      {fp16, fp16, 256, 2, 1, 0, {1, 11}, {64, 165}},
      {bf16, fp8_e4m3, 64, 8, 1, 0, {2, 15}, {1, 31, 480}},
      {fp16, fp8_e4m3, 128, 17, 1, 16, {2, 1}, {40, 16, 33}},
      {bf16, fp8_e4m3, 128, 3, 1, 0, {1, 25}, {400, 2}},
      {bf16, fp8_e4m3, 256, 5, 1, 50, {1, 5}, {66, 81, 0}},
      // More splits than a warp has lanes.
      {fp16, fp8_e4m3, 64, 2, 1, 600, {39, 1}, {640, 599}},
  };
}

DecodeInput input_of(const Case& one, std::uint64_t seed) {
  const std::int32_t longest = *std::max_element(one.contexts.begin(), one.contexts.end());
  DecodeInput input = random_input({.batch = static_cast<std::int64_t>(one.contexts.size()),
                                    .longest_context = longest,
                                    .heads = one.heads,
                                    .kv_heads = one.kv_heads,
                                    .head_dim = one.head_dim,
                                    .window = one.window,
                                    .max_blocks = longest / kPageTokens + 2,
                                    .query_type = one.query,
                                    .kv_type = one.kv},
                                   one.contexts, seed);
  if (one.kv == ElementType::fp8_e4m3) {
    input.key_scale = 0.75f;
    input.value_scale = 3.0f;
  }
  return input;
}

TEST_CASE("the decode kernel gives the attention of the reference", "[kernels]") {
  std::uint64_t seed = 0;
  for (const Case& one : cases()) {
    const DecodeInput input = input_of(one, ++seed);
    REQUIRE(decode_attention_support(input.shape, 228 * 1024).ok());
    // Copies may land at once or as late as they are waited for.
    const testing::GpuTiming timing{.copies = seed % 2 == 0 ? CopyTiming::late : CopyTiming::at_once};
    INFO("case " << seed);
    CHECK(largest_error(input, output_of(input, one.plan, timing), 1) < kDecodeAttentionTolerance);
  }
}

TEST_CASE("the decode kernel needs no copy to be early or late", "[kernels]") {
  const DecodeInput input =
      input_of({ElementType::bf16, ElementType::bf16, 128, 4, 1, 0, {1, 20}, {320, 7}}, 50);
  CHECK(output_of(input, {1, 20}, {.copies = CopyTiming::late}) ==
        output_of(input, {1, 20}, {.copies = CopyTiming::at_once}));
}

TEST_CASE("the decode kernel finds pages far on in the block table", "[kernels]") {
  // Each warp goes through 66 pages, and reads the block table of 32 at a time. Among so many tokens one more
  // or less would not show, so five of them get nearly all the weight, by keys that go the query's way: in
  // the first warp's pages 0, 31, 32, 63 and 64.
  DecodeInput input = input_of({ElementType::bf16, ElementType::bf16, 64, 1, 1, 0, {1, 264}, {4220}}, 60);
  const PagedKvLayout layout{1, 64};
  for (const std::int64_t position : {3, 31 * 64 + 7, 32 * 64 + 9, 63 * 64 + 1, 64 * 64 + 11}) {
    for (std::int64_t column = 0; column < 64; ++column) {
      const double way =
          value_of(input.query[static_cast<std::size_t>(column)], ElementType::bf16) < 0 ? -1 : 1;
      const std::int64_t element =
          kv_element(layout, token_at(input.block_table.data(), position), 0, column);
      input.keys[static_cast<std::size_t>(element)] = bits_of(way, ElementType::bf16);
    }
  }
  CHECK(largest_error(input, output_of(input, {1, 264}, {}), 1) < kDecodeAttentionTolerance);
}

TEST_CASE("large scores neither overflow nor vanish", "[kernels]") {
  for (const double size : {3000.0, -3000.0}) {
    DecodeInput input = input_of({ElementType::bf16, ElementType::bf16, 64, 2, 1, 0, {2, 2}, {60}}, 77);
    for (std::uint32_t& bits : input.query) {
      bits = bits_of(size * value_of(bits, ElementType::bf16), ElementType::bf16);
    }
    CHECK(largest_error(input, output_of(input, {2, 2}, {}), 1) < kDecodeAttentionTolerance);
  }
}

TEST_CASE("bf16 queries beyond fp16 are taken at its end with an e4m3 cache", "[kernels]") {
  DecodeInput input = input_of({ElementType::bf16, ElementType::fp8_e4m3, 64, 1, 1, 0, {1, 1}, {1}}, 78);
  input.query.assign(input.query.size(), bits_of(1e30, ElementType::bf16));
  // One token is its own softmax, whatever its score, unless that is no number.
  CHECK(largest_error(input, output_of(input, {1, 1}, {}), 1) < kDecodeAttentionTolerance);
}

}  // namespace
}  // namespace inferometer::kernels
