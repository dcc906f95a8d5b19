#pragma once

// Attention of one new token a sequence over a paged KV cache (paged_kv.hpp), with grouped queries (GQA):
// query head h attends with KV head h / (heads / kv_heads).
//
//   query, output   (batch, heads, head_dim) bf16 or fp16, both alike
//   keys, values    (blocks, kv_heads, 16 tokens, head_dim) of the query's type, or e4m3 and a scale
//   block_table     (batch, max_blocks) int32
//   contexts        (batch) int32: tokens of each sequence, its new one too; 0 gives zeros
//
//   output = softmax(query * key^T / sqrt(head_dim)) * value     over the last `window` tokens, or all
//
// head_dim 64, 128 or 256; any batch, heads, group and context. Slots beyond a sequence's tokens may hold
// anything. All pointers are multiples of 16 bytes. With an e4m3 cache, bf16 queries are multiplied as fp16,
// clamped to its range.
//
// One thread block takes a split of one sequence (split_kv_plan.hpp) and up to 16 query heads of a group, so
// that keys and values are read from memory once for those. Partial results, softmax state and fp32
// accumulator, go to a workspace that a second kernel reduces; where there is one split, the output is
// written directly.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attention/decode_tile.hpp"
#include "kernels/attention/split_kv_plan.hpp"
#include "kernels/common/divide_up.hpp"
#include "kernels/common/element_type.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct DecodeAttentionShape {
  std::int64_t batch = 0;
  std::int64_t longest_context = 0;  ///< tokens; of it the plan of splits is made
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;      ///< tokens; 0: none
  std::int64_t max_blocks = 0;  ///< entries of a row of the block table
  ElementType query_type = ElementType::bf16;
  ElementType kv_type = ElementType::bf16;
};

struct DecodeAttentionBuffers {
  const void* query = nullptr;
  const void* keys = nullptr;
  const void* values = nullptr;
  const std::int32_t* block_table = nullptr;
  const std::int32_t* contexts = nullptr;
  float key_scale = 1;    ///< a key is this times what the cache holds
  float value_scale = 1;  ///< and a value
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  void* output = nullptr;
};

/// Largest error of an output against the reference, as a share of the largest |value|: weights and output
/// are rounded to 8 significant bits, each by at most 2^-9, and scores are summed in fp32.
inline constexpr double kDecodeAttentionTolerance = 0.008;

/// Of a batch in which each sequence has longest_context tokens.
constexpr Work decode_attention_work(const DecodeAttentionShape& shape) {
  const std::int64_t keys =
      shape.window > 0 && shape.window < shape.longest_context ? shape.window : shape.longest_context;
  const double rows = static_cast<double>(shape.batch) * static_cast<double>(shape.head_dim);
  const double query_elements = rows * static_cast<double>(shape.heads);
  const double kv_elements = rows * static_cast<double>(shape.kv_heads) * static_cast<double>(keys);
  return {.flops = 4 * query_elements * static_cast<double>(keys),
          .bytes = 2 * bytes_of(shape.kv_type) * kv_elements + 4 * query_elements};
}

/// One query head's output. `key(position, column)` and `value(position, column)` give the elements, scaled.
/// O(context * head_dim).
template <class Key, class Value>
std::vector<double> decode_attention_reference(const std::vector<double>& query, std::int64_t context,
                                               std::int64_t window, const Key& key, const Value& value) {
  const std::int64_t first = window > 0 && context > window ? context - window : 0;
  std::vector<double> scores;
  double largest = -INFINITY;
  for (std::int64_t position = first; position < context; ++position) {
    double product = 0;
    for (std::size_t column = 0; column < query.size(); ++column) {
      product += query[column] * key(position, static_cast<std::int64_t>(column));
    }
    scores.push_back(product / std::sqrt(static_cast<double>(query.size())));
    largest = std::fmax(largest, scores.back());
  }
  double sum = 0;
  std::vector<double> output(query.size());
  for (std::int64_t position = first; position < context; ++position) {
    const double weight = std::exp(scores[static_cast<std::size_t>(position - first)] - largest);
    sum += weight;
    for (std::size_t column = 0; column < query.size(); ++column) {
      output[column] += weight * value(position, static_cast<std::int64_t>(column));
    }
  }
  for (double& element : output) {
    element = sum > 0 ? element / sum : 0;
  }
  return output;
}

/// Thread blocks that share a KV head of a sequence, as its group has more query heads than a block takes.
constexpr std::int64_t decode_head_tiles(const DecodeAttentionShape& shape) {
  return divide_up<std::int64_t>(shape.heads / shape.kv_heads, kDecodeRows);
}

/// Whether the kernel takes these shapes on a GPU with so much shared memory a multiprocessor.
constexpr LaunchResult decode_attention_support(const DecodeAttentionShape& shape, int shared_bytes_per_sm) {
  const auto refused = [](const char* reason) { return LaunchResult{KernelStatus::unsupported, reason}; };
  if (shape.batch < 1 || shape.kv_heads < 1 || shape.heads < 1 || shape.heads % shape.kv_heads != 0) {
    return refused("decode attention: batch and heads >= 1, heads a multiple of kv_heads");
  }
  if (shape.head_dim != 64 && shape.head_dim != 128 && shape.head_dim != 256) {
    return refused("decode attention: head_dim is 64, 128 or 256");
  }
  if (shape.query_type != ElementType::bf16 && shape.query_type != ElementType::fp16) {
    return refused("decode attention: queries are bf16 or fp16");
  }
  if (shape.kv_type != shape.query_type && shape.kv_type != ElementType::fp8_e4m3) {
    return refused("decode attention: the cache is of the query's type or e4m3");
  }
  // Positions are int32, and one past the last page must be too.
  if (shape.longest_context < 1 || shape.longest_context > INT32_MAX - kPageTokens || shape.window < 0 ||
      shape.window > INT32_MAX - kPageTokens) {
    return refused("decode attention: contexts of 1 to 2^31 - 17 tokens, windows of 0 to as many");
  }
  if (shape.max_blocks < divide_up<std::int64_t>(shape.longest_context, kPageTokens)) {
    return refused("decode attention: the block table is too narrow for the longest context");
  }
  if (shape.batch * shape.heads > INT32_MAX / kMostSplits) {
    return refused("decode attention: at most 8388607 query heads in a batch");
  }
  if (decode_blocks_per_sm(static_cast<int>(shape.head_dim), bytes_of(shape.kv_type), shared_bytes_per_sm) <
      1) {
    return refused("decode attention: this GPU has too little shared memory for the head_dim");
  }
  return {};
}

/// How sequences are cut on a GPU of so many multiprocessors. Precondition: supported. A split has two pages
/// for each warp at least, and so many that its keys and values are 8 times what its partial results write
/// and read.
constexpr SplitKvPlan decode_attention_plan(const DecodeAttentionShape& shape, int sms,
                                            int shared_bytes_per_sm) {
  const int kv_bytes = bytes_of(shape.kv_type);
  const std::int64_t group = shape.heads / shape.kv_heads;
  // 8 bytes of an accumulator's element, written and read, against 2 * kv_bytes * 16 of a page's, for each
  // column.
  const std::int32_t rows = group < kDecodeRows ? static_cast<std::int32_t>(group) : kDecodeRows;
  const std::int32_t for_reduction = 2 * rows / kv_bytes;
  const std::int32_t for_warps = 2 * kDecodeWarps;
  const std::int64_t places =
      static_cast<std::int64_t>(sms) *
      decode_blocks_per_sm(static_cast<int>(shape.head_dim), kv_bytes, shared_bytes_per_sm);
  return plan_split_kv(shape.batch * shape.kv_heads * decode_head_tiles(shape),
                       most_attended_pages(static_cast<std::int32_t>(shape.longest_context),
                                           static_cast<std::int32_t>(shape.window)),
                       for_reduction > for_warps ? for_reduction : for_warps, places);
}

/// An fp32 accumulator and a softmax state for each split of each query head; none where one split writes the
/// output.
constexpr std::size_t decode_attention_workspace_bytes(const DecodeAttentionShape& shape,
                                                       const SplitKvPlan& plan) {
  if (plan.splits == 1) {
    return 0;
  }
  return static_cast<std::size_t>(shape.batch * shape.heads * plan.splits * (shape.head_dim + 2)) *
         sizeof(float);
}

/// The workspace that decode_attention() needs for these shapes on the current GPU.
LaunchResult decode_attention_workspace(const DecodeAttentionShape& shape, std::size_t& bytes);

LaunchResult decode_attention(const DecodeAttentionShape& shape, const DecodeAttentionBuffers& buffers,
                              Stream stream);

}  // namespace inferometer::kernels
