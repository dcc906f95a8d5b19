#pragma once

// Rotary position embedding of new tokens' queries and keys (Su et al. 2021, halves paired as in GPT-NeoX and
// Llama), and their keys and values written into the paged cache:
//
//   qkv        (tokens, heads + 2 kv_heads, head_dim) bf16: query, key and value heads of each token, as one
//              matrix product leaves them
//   positions  (tokens) int32, each in [0, 2^24)
//   slots      (tokens) int32: where a token lies in the cache, block * 16 + offset; below 0: nowhere
//   query      (tokens, heads, head_dim) bf16, rotated; or null: rotated in place, within qkv
//   key_cache, value_cache  (blocks, kv_heads, 16, head_dim) of the KV element type
//
//   pair (x[d], x[d + head_dim / 2]), 0 <= d < head_dim / 2, turns by position * theta^(-2 d / head_dim):
//     x[d] cos - x[d + half] sin,  x[d + half] cos + x[d] sin
//
// fp8 holds key / key_scale and value / value_scale; other formats take no scale. Angles are reduced in fp64
// and then turned in fp32, so that long contexts lose no precision. head_dim a multiple of 16, up to 256.
// Buffers 16-byte aligned. No two tokens have one slot.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

inline constexpr int kRopeBlockTokens = 16;  // of one block of the cache
inline constexpr int kRopeMostHeadDim = 256;

struct RopeKvWriteShape {
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  ElementType kv_type = ElementType::bf16;  ///< or fp16, fp8_e4m3
  double theta = 10000;
  float key_scale = 1;
  float value_scale = 1;
};

struct RopeKvWriteBuffers {
  void* qkv = nullptr;  ///< written only when query is null
  const std::int32_t* positions = nullptr;
  const std::int32_t* slots = nullptr;
  void* query = nullptr;
  void* key_cache = nullptr;
  void* value_cache = nullptr;
};

/// Largest error of a rotated element, relative to the larger element of its pair: half a step of bf16 (2^-8)
/// after a rotation in fp32; of one in the cache likewise half a step of its format, 2^-4 in e4m3 (and 2^-10
/// of the scale below its normal numbers).
inline constexpr double kRopeTolerance = 0.006;
inline constexpr double kRopeFp8Tolerance = 0.09;

/// Queries, keys and values are read, queries written, keys and values written to the cache.
constexpr Work rope_kv_write_work(const RopeKvWriteShape& shape) {
  const double query_elements = static_cast<double>(shape.tokens * shape.heads * shape.head_dim);
  const double key_elements = static_cast<double>(shape.tokens * shape.kv_heads * shape.head_dim);
  return {.flops = 6 * (query_elements + key_elements),
          .bytes = 2 * (2 * query_elements + 2 * key_elements) + bytes_of(shape.kv_type) * 2 * key_elements};
}

/// Index of a cached element: of the token in `slot`, of one KV head.
INFEROMETER_HOST_DEVICE constexpr std::int64_t kv_cache_element(std::int64_t slot, std::int64_t kv_head,
                                                                std::int64_t dim, std::int64_t kv_heads,
                                                                std::int64_t head_dim) {
  const std::int64_t block = slot / kRopeBlockTokens;
  const std::int64_t offset = slot % kRopeBlockTokens;
  return ((block * kv_heads + kv_head) * kRopeBlockTokens + offset) * head_dim + dim;
}

/// By how many full turns pair d turns for each position.
inline double turns_of_position(std::int64_t pair, std::int64_t head_dim, double theta) {
  const double exponent = -2 * static_cast<double>(pair) / static_cast<double>(head_dim);
  return std::pow(theta, exponent) / (2 * std::numbers::pi);
}

/// One head of one token, turned; in double.
inline std::vector<double> rope_reference(const std::vector<double>& head, std::int64_t position,
                                          double theta) {
  const std::size_t half = head.size() / 2;
  std::vector<double> turned(head.size());
  for (std::size_t pair = 0; pair < half; ++pair) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(position) *
        turns_of_position(static_cast<std::int64_t>(pair), static_cast<std::int64_t>(head.size()), theta);
    turned[pair] = head[pair] * std::cos(angle) - head[pair + half] * std::sin(angle);
    turned[pair + half] = head[pair + half] * std::cos(angle) + head[pair] * std::sin(angle);
  }
  return turned;
}

LaunchResult rope_kv_write(const RopeKvWriteShape& shape, const RopeKvWriteBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
