#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/elementwise/rope_kv_write.hpp"
#include "tests/cuda/dense_data.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

const std::vector<std::int32_t> kPositions{0, 1, 17, 4095, 131071};
const std::vector<std::int32_t> kSlots{5, 47, -1, 16, 31};
constexpr std::int64_t kBlocks = 3;

struct Call {
  Call(const RopeKvWriteShape& call_shape, bool is_in_place)
      : shape(call_shape),
        qkv(bytes_for(shape.tokens * (shape.heads + 2 * shape.kv_heads) * shape.head_dim, ElementType::bf16)),
        query(bytes_for(shape.tokens * shape.heads * shape.head_dim, ElementType::bf16)),
        keys(bytes_for(kBlocks * shape.kv_heads * kRopeBlockTokens * shape.head_dim, shape.kv_type)),
        values(keys.bytes()),
        before(fill(qkv, {.type = ElementType::bf16, .seed = 8})) {
    require_run(rope_kv_write(shape,
                              {.qkv = qkv.data(),
                               .positions = static_cast<const std::int32_t*>(positions.data()),
                               .slots = static_cast<const std::int32_t*>(slots.data()),
                               .query = is_in_place ? nullptr : query.data(),
                               .key_cache = keys.data(),
                               .value_cache = values.data()},
                              nullptr));
  }

  [[nodiscard]] std::int64_t qkv_place(std::int64_t token, std::int64_t head) const {
    return (token * (shape.heads + 2 * shape.kv_heads) + head) * shape.head_dim;
  }

  /// A head of `before`, rotated for its token.
  [[nodiscard]] std::vector<double> rotated(std::int64_t token, std::int64_t head) const {
    return rope_reference(part_of(before, qkv_place(token, head), shape.head_dim),
                          kPositions[static_cast<std::size_t>(token)], shape.theta);
  }

  RopeKvWriteShape shape;
  GpuArray qkv;
  GpuArray query;
  GpuArray keys;
  GpuArray values;
  GpuArray positions = on_gpu(kPositions);
  GpuArray slots = on_gpu(kSlots);
  std::vector<double> before;
};

/// Errors are relative to the larger element of a pair; `smallest` is half the step of the format near 0.
void require_close(const std::vector<double>& head, const std::vector<double>& expected, double tolerance,
                   double smallest) {
  const std::size_t half = expected.size() / 2;
  for (std::size_t dim = 0; dim < expected.size(); ++dim) {
    const std::size_t other = dim < half ? dim + half : dim - half;
    const double size = std::max(std::fabs(expected[dim]), std::fabs(expected[other]));
    REQUIRE(std::fabs(head[dim] - expected[dim]) <= tolerance * size + smallest);
  }
}

void check_queries(const Call& call, bool is_in_place) {
  const std::vector<double> queries = elements_of(is_in_place ? call.qkv : call.query, ElementType::bf16);
  for (std::int64_t token = 0; token < call.shape.tokens; ++token) {
    for (std::int64_t head = 0; head < call.shape.heads; ++head) {
      const std::int64_t place =
          is_in_place ? call.qkv_place(token, head) : (token * call.shape.heads + head) * call.shape.head_dim;
      require_close(part_of(queries, place, call.shape.head_dim), call.rotated(token, head), kRopeTolerance,
                    0);
    }
    // Keys and values of qkv stay as they were.
    const std::int64_t first = call.qkv_place(token, call.shape.heads);
    const std::int64_t rest = call.qkv_place(token + 1, 0) - first;
    REQUIRE(part_of(elements_of(call.qkv, ElementType::bf16), first, rest) ==
            part_of(call.before, first, rest));
  }
}

void check_cache(const Call& call) {
  const RopeKvWriteShape& shape = call.shape;
  const bool is_fp8 = shape.kv_type == ElementType::fp8_e4m3;
  const double tolerance = is_fp8 ? kRopeFp8Tolerance : kRopeTolerance;
  std::vector<double> keys = elements_of(call.keys, shape.kv_type);
  std::vector<double> values = elements_of(call.values, shape.kv_type);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    const std::int64_t slot = kSlots[static_cast<std::size_t>(token)];
    for (std::int64_t head = 0; slot >= 0 && head < shape.kv_heads; ++head) {
      const std::int64_t place = kv_cache_element(slot, head, 0, shape.kv_heads, shape.head_dim);
      std::vector<double> key = part_of(keys, place, shape.head_dim);
      std::vector<double> value = part_of(values, place, shape.head_dim);
      for (std::size_t dim = 0; dim < key.size(); ++dim) {
        key[dim] *= shape.key_scale;
        value[dim] *= shape.value_scale;
        // Read once: what nobody should have written is left over below.
        keys[static_cast<std::size_t>(place) + dim] = NAN;
        values[static_cast<std::size_t>(place) + dim] = NAN;
      }
      require_close(key, call.rotated(token, shape.heads + head), tolerance,
                    is_fp8 ? 0x1p-10 * shape.key_scale : 1e-7);
      require_close(
          value,
          part_of(call.before, call.qkv_place(token, shape.heads + shape.kv_heads + head), shape.head_dim),
          tolerance, is_fp8 ? 0x1p-10 * shape.value_scale : 1e-7);
    }
  }
  CHECK(std::all_of(keys.begin(), keys.end(), [](double element) { return std::isnan(element); }));
  CHECK(std::all_of(values.begin(), values.end(), [](double element) { return std::isnan(element); }));
}

TEST_CASE("queries are rotated and keys and values reach their slots", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const ElementType kv_type : {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3}) {
    for (const std::int64_t head_dim : {16, 64, 80, 128, 256}) {
      for (const bool is_in_place : {false, true}) {
        const bool is_fp8 = kv_type == ElementType::fp8_e4m3;
        const Call call({.tokens = static_cast<std::int64_t>(kPositions.size()),
                         .heads = 12,
                         .kv_heads = 3,
                         .head_dim = head_dim,
                         .kv_type = kv_type,
                         .theta = 500'000,
                         .key_scale = is_fp8 ? 0.5f : 1.0f,
                         .value_scale = is_fp8 ? 2.0f : 1.0f},
                        is_in_place);
        check_queries(call, is_in_place);
        check_cache(call);
      }
    }
  }
}

TEST_CASE("rotary embedding refuses what it cannot do", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  const RopeKvWriteShape good{.tokens = 1, .heads = 4, .kv_heads = 1, .head_dim = 64};
  RopeKvWriteShape odd = good;
  odd.head_dim = 24;
  RopeKvWriteShape scaled = good;
  scaled.key_scale = 2;
  RopeKvWriteShape wide = good;
  wide.kv_type = ElementType::fp32;
  for (const RopeKvWriteShape& shape : {odd, scaled, wide}) {
    CHECK(rope_kv_write(shape, {}, nullptr).status == KernelStatus::unsupported);
  }
}

}  // namespace
}  // namespace inferometer::kernels
