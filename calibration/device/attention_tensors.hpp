#pragma once

// The arrays of prefill attention as cuDNN is told of them: sizes and strides in elements, in the order
// (sequence, head, row, column). Ours lie as (sequence, token, head, column), each sequence as long as the
// others. Who uses it: cudnn_attention.cpp.

#include <array>
#include <cstdint>

namespace inferometer {

/// Equal sequences: each of `tokens` new tokens over `past` cached ones. All but past and window are >= 1.
struct EqualPrefill {
  std::int64_t batch = 0, tokens = 0, past = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t window = 0;  ///< keys that a token attends at most, itself included; 0: no limit

  [[nodiscard]] constexpr std::int64_t keys() const { return past + tokens; }

  /// Whether the window hides a key from anyone.
  [[nodiscard]] constexpr bool is_limited() const { return window > 0 && window < keys(); }
};

struct AttentionTensor {
  std::array<std::int64_t, 4> sizes{}, strides{};
};

/// `rows` tokens of each sequence, each of `heads` times head_dim elements.
constexpr AttentionTensor token_tensor(const EqualPrefill& shape, std::int64_t rows, std::int64_t heads) {
  const std::int64_t width = heads * shape.head_dim;
  return {.sizes = {shape.batch, heads, rows, shape.head_dim},
          .strides = {rows * width, shape.head_dim, width, 1}};
}

constexpr AttentionTensor query_tensor(const EqualPrefill& shape) {
  return token_tensor(shape, shape.tokens, shape.heads);
}

constexpr AttentionTensor value_tensor(const EqualPrefill& shape) {
  return token_tensor(shape, shape.keys(), shape.kv_heads);
}

/// Of the matrix product of queries and keys: a column a key.
constexpr AttentionTensor transposed_key_tensor(const EqualPrefill& shape) {
  const AttentionTensor keys = value_tensor(shape);
  return {.sizes = {keys.sizes[0], keys.sizes[1], keys.sizes[3], keys.sizes[2]},
          .strides = {keys.strides[0], keys.strides[1], keys.strides[3], keys.strides[2]}};
}

/// Without gaps: `columns` numbers for each query and head. Never in memory, but sizes are asked for.
constexpr AttentionTensor score_tensor(const EqualPrefill& shape, std::int64_t columns) {
  const std::int64_t of_head = shape.tokens * columns;
  return {.sizes = {shape.batch, shape.heads, shape.tokens, columns},
          .strides = {shape.heads * of_head, of_head, columns, 1}};
}

constexpr AttentionTensor scalar_tensor() {
  return {.sizes = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}};
}

}  // namespace inferometer
