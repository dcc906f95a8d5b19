// Decode attention on a GPU against its reference.

#include "kernels/attention/decode_attention.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/cuda/gpu_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kernels/decode_input.hpp"

namespace inferometer::kernels {
namespace {

using inferometer::test::GpuArray;
using test::DecodeInput;

bool skipped() {
  const std::string reason = inferometer::test::gpu_missing();
  if (!reason.empty()) {
    WARN("skipped: " << reason);
  }
  return !reason.empty();
}

std::vector<std::uint8_t> bytes_from(const std::vector<std::uint32_t>& elements, ElementType type) {
  const auto size = static_cast<std::size_t>(bytes_of(type));
  std::vector<std::uint8_t> bytes(elements.size() * size);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(&bytes[i * size], &elements[i], size);  // little-endian, like the GPU
  }
  return bytes;
}

GpuArray on_gpu(const std::vector<std::uint32_t>& elements, ElementType type) {
  const std::vector<std::uint8_t> bytes = bytes_from(elements, type);
  return {bytes.data(), bytes.size()};
}

GpuArray on_gpu(const std::vector<std::int32_t>& numbers) {
  return {numbers.data(), numbers.size() * sizeof(std::int32_t)};
}

std::vector<double> output_of(const DecodeInput& input) {
  const DecodeAttentionShape& shape = input.shape;
  const GpuArray query = on_gpu(input.query, shape.query_type);
  const GpuArray keys = on_gpu(input.keys, shape.kv_type);
  const GpuArray values = on_gpu(input.values, shape.kv_type);
  const GpuArray block_table = on_gpu(input.block_table);
  const GpuArray contexts = on_gpu(input.contexts);
  std::size_t workspace_bytes = 0;
  REQUIRE(decode_attention_workspace(shape, workspace_bytes).ok());
  const GpuArray workspace(std::max<std::size_t>(workspace_bytes, 1));
  const GpuArray output(input.query.size() * 2);
  const LaunchResult result =
      decode_attention(shape,
                       {.query = query.data(),
                        .keys = keys.data(),
                        .values = values.data(),
                        .block_table = static_cast<const std::int32_t*>(block_table.data()),
                        .contexts = static_cast<const std::int32_t*>(contexts.data()),
                        .key_scale = input.key_scale,
                        .value_scale = input.value_scale,
                        .workspace = workspace.data(),
                        .workspace_bytes = workspace_bytes,
                        .output = output.data()},
                       nullptr);
  INFO(result.reason);
  REQUIRE(result.ok());
  inferometer::test::wait_for_gpu();
  std::vector<std::uint16_t> bits(input.query.size());
  output.copy_to(bits.data());
  std::vector<double> elements(bits.size());
  std::transform(bits.begin(), bits.end(), elements.begin(),
                 [&](std::uint16_t element) { return value_of(element, shape.query_type); });
  return elements;
}

void check(DecodeAttentionShape shape, const std::vector<std::int32_t>& contexts, std::uint64_t seed) {
  shape.batch = static_cast<std::int64_t>(contexts.size());
  shape.longest_context = *std::max_element(contexts.begin(), contexts.end());
  shape.max_blocks = shape.longest_context / kPageTokens + 2;
  DecodeInput input = test::random_input(shape, contexts, seed);
  if (shape.kv_type == ElementType::fp8_e4m3) {
    input.key_scale = 0.75f;
    input.value_scale = 3.0f;
  }
  INFO("heads " << shape.heads << " kv_heads " << shape.kv_heads << " head_dim " << shape.head_dim
                << " window " << shape.window << " kv_type " << static_cast<int>(shape.kv_type) << " seed "
                << seed);
  // Of large groups every fifth head: each row of a tile in some sequence.
  CHECK(test::largest_error(input, output_of(input), shape.heads > 8 ? 5 : 1) < kDecodeAttentionTolerance);
}

struct Types {
  ElementType query;
  ElementType kv;
};

constexpr Types kTypes[] = {{ElementType::bf16, ElementType::bf16},
                            {ElementType::fp16, ElementType::fp16},
                            {ElementType::bf16, ElementType::fp8_e4m3},
                            {ElementType::fp16, ElementType::fp8_e4m3}};

TEST_CASE("decode attention of every format and group is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  std::uint64_t seed = 0;
  for (const Types& types : kTypes) {
    for (const std::int64_t head_dim : {64, 128, 256}) {
      for (const std::int64_t group : {1, 4, 8, 16, 20}) {
        check({.heads = 2 * group,
               .kv_heads = 2,
               .head_dim = head_dim,
               .query_type = types.query,
               .kv_type = types.kv},
              {1, 15, 16, 17, 33, 150, 0}, ++seed);
      }
    }
  }
}

TEST_CASE("decode attention over a window is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  std::uint64_t seed = 100;
  for (const Types& types : kTypes) {
    for (const std::int64_t window : {1, 16, 17, 100}) {
      check({.heads = 8,
             .kv_heads = 2,
             .head_dim = 128,
             .window = window,
             .query_type = types.query,
             .kv_type = types.kv},
            {1, 16, 17, 99, 100, 101, 400}, ++seed);
    }
  }
}

TEST_CASE("decode attention of long ragged batches is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  std::uint64_t seed = 200;
  for (const Types& types : kTypes) {
    check({.heads = 4, .kv_heads = 1, .head_dim = 128, .query_type = types.query, .kv_type = types.kv},
          {1, 5000, 770, 2500, 4097}, ++seed);
  }
}

TEST_CASE("decode attention refuses a workspace that is too small", "[cuda]") {
  if (skipped()) {
    return;
  }
  const DecodeAttentionShape shape{
      .batch = 1, .longest_context = 5000, .heads = 4, .kv_heads = 1, .head_dim = 128, .max_blocks = 313};
  std::size_t bytes = 0;
  REQUIRE(decode_attention_workspace(shape, bytes).ok());
  REQUIRE(bytes > 0);
  const LaunchResult result = decode_attention(shape, {.workspace_bytes = bytes - 1}, nullptr);
  CHECK(result.status == KernelStatus::unsupported);
}

}  // namespace
}  // namespace inferometer::kernels
