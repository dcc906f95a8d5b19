#pragma once

// Random batches for decode attention, and how far an output is from the reference. For the tests on the host
// and on a GPU alike.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/paged_kv.hpp"
#include "kernels/common/element_type.hpp"
#include "kernels/common/random_element.hpp"

namespace inferometer::kernels::test {

/// What decode attention reads; elements as bits, one a number.
struct DecodeInput {
  DecodeAttentionShape shape;
  std::vector<std::uint32_t> query;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> values;
  std::vector<std::int32_t> block_table;
  std::vector<std::int32_t> contexts;
  float key_scale = 1;
  float value_scale = 1;
};

/// What lies in slots that no sequence attends: NaN, or of e4m3 the pattern of NaN.
inline std::uint32_t garbage(ElementType type) {
  return type == ElementType::bf16 ? 0x7fc0u : type == ElementType::fp16 ? 0x7e00u : 0x7fu;
}

/// Elements of a cache: random_small_element() of the slots' addresses, and garbage where no token is.
inline std::vector<std::uint32_t> random_cache(const DecodeInput& input, std::int64_t blocks,
                                               std::uint64_t seed) {
  const DecodeAttentionShape& shape = input.shape;
  const PagedKvLayout layout{shape.kv_heads, shape.head_dim};
  // bits_of() once for each of the 31 values: caches are large.
  std::array<std::uint32_t, 31> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = bits_of((static_cast<double>(i) - 15) / 16, shape.kv_type);
  }
  std::vector<std::uint32_t> cache(static_cast<std::size_t>(page_element(layout, blocks, 0)),
                                   garbage(shape.kv_type));
  for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence) {
    const std::int32_t* table = input.block_table.data() + sequence * shape.max_blocks;
    const std::int64_t context = input.contexts[static_cast<std::size_t>(sequence)];
    for (std::int64_t row = 0; row < context * shape.kv_heads; ++row) {
      const auto first = static_cast<std::uint64_t>(
          kv_element(layout, token_at(table, row / shape.kv_heads), row % shape.kv_heads, 0));
      for (std::uint64_t element = first; element < first + static_cast<std::uint64_t>(shape.head_dim);
           ++element) {
        cache[element] = bits[static_cast<std::size_t>(16 * random_small_element(seed, element) + 15)];
      }
    }
  }
  return cache;
}

/// Blocks of all sequences in a random order, with two that nobody has.
inline DecodeInput random_input(const DecodeAttentionShape& shape, std::vector<std::int32_t> contexts,
                                std::uint64_t seed) {
  DecodeInput input;
  input.shape = shape;
  input.contexts = std::move(contexts);
  const std::int64_t blocks = shape.batch * shape.max_blocks + 2;
  std::vector<std::int32_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[random_bits(seed, i) % (i + 1)]);
  }
  input.block_table.assign(order.begin(), order.end() - 2);
  for (std::int64_t i = 0; i < shape.batch * shape.heads * shape.head_dim; ++i) {
    const float element = 4 * random_element(seed + 1, static_cast<std::uint64_t>(i));
    input.query.push_back(bits_of(static_cast<double>(element), shape.query_type));
  }
  input.keys = random_cache(input, blocks, seed + 2);
  input.values = random_cache(input, blocks, seed + 3);
  return input;
}

/// The largest difference between an output, (batch * heads, head_dim), and the reference, over the largest
/// |value|. Every `stride`-th query head is looked at.
inline double largest_error(const DecodeInput& input, const std::vector<double>& output,
                            std::int64_t stride) {
  const DecodeAttentionShape& shape = input.shape;
  const PagedKvLayout layout{shape.kv_heads, shape.head_dim};
  double worst = 0;
  for (std::int64_t head = 0; head < shape.batch * shape.heads; head += stride) {
    const std::int64_t sequence = head / shape.heads;
    const std::int64_t kv_head = head % shape.heads / (shape.heads / shape.kv_heads);
    const std::int32_t* table = input.block_table.data() + sequence * shape.max_blocks;
    std::vector<double> query;
    for (std::int64_t column = 0; column < shape.head_dim; ++column) {
      query.push_back(
          value_of(input.query[static_cast<std::size_t>(head * shape.head_dim + column)], shape.query_type));
    }
    const auto of = [&](const std::vector<std::uint32_t>& cache, double scale) {
      return [&cache, &layout, &shape, table, kv_head, scale](std::int64_t position, std::int64_t column) {
        const std::int64_t element = kv_element(layout, token_at(table, position), kv_head, column);
        return scale * value_of(cache[static_cast<std::size_t>(element)], shape.kv_type);
      };
    };
    const std::vector<double> expected =
        decode_attention_reference(query, input.contexts[static_cast<std::size_t>(sequence)], shape.window,
                                   of(input.keys, static_cast<double>(input.key_scale)),
                                   of(input.values, static_cast<double>(input.value_scale)));
    for (std::size_t column = 0; column < expected.size(); ++column) {
      const double error =
          std::fabs(output[static_cast<std::size_t>(head * shape.head_dim) + column] - expected[column]);
      // A NaN is no small error.
      worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
    }
  }
  const double largest_value = static_cast<double>(input.value_scale) * 15 / 16;  // of random_small_element()
  return worst / largest_value;
}

}  // namespace inferometer::kernels::test
