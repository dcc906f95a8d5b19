#pragma once

// Causal self attention of a batch of prompt chunks: each sequence brings new tokens, which attend what the
// sequence has cached and, up to themselves, each other (Dao, "FlashAttention-2", 2023, arXiv:2307.08691; for
// Hopper Shah et al., "FlashAttention-3", 2024, arXiv:2407.08608). Grouped-query: heads share the KV heads
// evenly, in order.
//
//   query, output  (total_tokens, heads, head_dim), the sequences' new tokens one after the other
//   keys, values   (total_keys, kv_heads, head_dim), cached tokens and then new ones of each sequence
//   query_offsets  (batch + 1) int32: the first new token of each sequence, the total at last
//   key_offsets    (batch + 1) int32: likewise of keys; a sequence has at least as many as new tokens
//
//   output = softmax over visible keys of (q . k / sqrt(head_dim)) times v
//
// bf16 or fp16, head_dim 64, 128 or 256; sums and softmax in fp32, probabilities rounded to the element type
// before they meet the values. All inputs finite, scores below 1e30. For GPUs from sm_80 on.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct PrefillAttentionShape {
  std::int64_t batch = 0;         ///< sequences, >= 1
  std::int64_t max_tokens = 0;    ///< new tokens of the sequence that brings most; sequences may bring none
  std::int64_t total_tokens = 0;  ///< new tokens of all sequences
  std::int64_t total_keys = 0;    ///< cached and new tokens of all sequences
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< divides heads
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  ///< keys that a token attends at most, itself included; 0: no limit
  ElementType element = ElementType::bf16;
};

/// In the GPU's memory; arrays of elements at multiples of 16 bytes.
struct PrefillAttentionBuffers {
  const void* query = nullptr;
  const void* keys = nullptr;
  const void* values = nullptr;
  void* output = nullptr;
  const std::int32_t* query_offsets = nullptr;
  const std::int32_t* key_offsets = nullptr;
};

struct PrefillSequence {
  std::int64_t tokens = 0;  ///< new
  std::int64_t past = 0;    ///< cached
};

/// Largest error of an output element against the reference, as a share of the largest value's magnitude. An
/// output is a mean of values: rounding the probabilities moves it by 2^-9 of the largest at most, rounding
/// the result to bf16 by as much again; the rest is for fp32 scores and exponentials.
inline constexpr double kPrefillAttentionTolerance = 0.005;

/// Two products, each 2 FLOPs for each visible (query, key) pair and column; queries and the keys in sight
/// are read once, values too, outputs written once. O(sequences).
inline Work prefill_attention_work(const PrefillAttentionShape& shape,
                                   std::span<const PrefillSequence> sequences) {
  double pairs = 0;
  double keys = 0;
  double tokens = 0;
  for (const PrefillSequence& sequence : sequences) {
    if (sequence.tokens == 0) {
      continue;
    }
    const std::int64_t all = sequence.past + sequence.tokens;
    const std::int64_t limit = shape.window > 0 ? shape.window : all;
    // Those that see their whole past and themselves; the others see as many as the limit.
    const std::int64_t growing = std::clamp<std::int64_t>(limit - sequence.past, 0, sequence.tokens);
    pairs += static_cast<double>(growing * sequence.past + growing * (growing + 1) / 2 +
                                 (sequence.tokens - growing) * limit);
    keys += static_cast<double>(std::min(all, limit + sequence.tokens - 1));
    tokens += static_cast<double>(sequence.tokens);
  }
  const auto columns = static_cast<double>(shape.heads * shape.head_dim);
  const auto kv_columns = static_cast<double>(shape.kv_heads * shape.head_dim);
  const double bytes = bytes_of(shape.element);
  return {.flops = 4 * columns * pairs, .bytes = 2 * bytes * (keys * kv_columns + tokens * columns)};
}

/// One token and head of the output. `position` of the token in its sequence, cached tokens included; key and
/// value: (position, column) -> double, of its sequence and KV head. O(position head_dim).
template <class Key, class Value>
std::vector<double> prefill_attention_reference(const std::vector<double>& query, std::int64_t position,
                                                std::int64_t window, Key key, Value value) {
  const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, position - window + 1) : 0;
  const double scale = 1 / std::sqrt(static_cast<double>(query.size()));
  std::vector<double> scores;
  for (std::int64_t at = first; at <= position; ++at) {
    double score = 0;
    for (std::size_t column = 0; column < query.size(); ++column) {
      score += query[column] * key(at, column);
    }
    scores.push_back(score * scale);
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> output(query.size(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double weight = std::exp(scores[i] - highest);
    sum += weight;
    for (std::size_t column = 0; column < output.size(); ++column) {
      output[column] += weight * value(first + static_cast<std::int64_t>(i), column);
    }
  }
  for (double& element : output) {
    element /= sum;
  }
  return output;
}

LaunchResult prefill_attention(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                               Stream stream);

}  // namespace inferometer::kernels
