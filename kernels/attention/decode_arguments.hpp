#pragma once

// What the kernels of decode attention are handed: shape, buffers and plan in the form in which they are
// used.

#include <cmath>
#include <cstdint>

#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/split_kv_plan.hpp"
#include "kernels/common/e4m3_pair.hpp"
#include "kernels/common/element_type.hpp"

namespace inferometer::kernels {

struct DecodeArguments {
  const std::uint16_t* query;
  const std::uint8_t* keys;
  const std::uint8_t* values;
  const std::int32_t* block_table;
  const std::int32_t* contexts;
  std::uint16_t* output;
  float* accumulators;          // (batch * heads, splits, head_dim)
  SoftmaxState<float>* states;  // (batch * heads, splits)
  std::int64_t query_heads;     // of the whole batch
  std::int64_t max_blocks;
  int heads;
  int kv_heads;
  int head_tiles;
  int window;
  SplitKvPlan plan;
  float score_scale;  // from a product of query and key to a score in base 2
  float value_scale;
  ElementType query_type;
};

/// Precondition: decode_attention_support() of the shape, and a workspace that is large enough.
inline DecodeArguments decode_arguments(const DecodeAttentionShape& shape,
                                        const DecodeAttentionBuffers& buffers, const SplitKvPlan& plan) {
  const float widened = shape.kv_type == ElementType::fp8_e4m3 ? kE4m3OverFp16 : 1.0f;
  const double score_scale = kLog2E / std::sqrt(static_cast<double>(shape.head_dim));
  auto* accumulators = static_cast<float*>(buffers.workspace);
  auto* states = plan.splits == 1
                     ? nullptr
                     : reinterpret_cast<SoftmaxState<float>*>(
                           accumulators + shape.batch * shape.heads * plan.splits * shape.head_dim);
  return {.query = static_cast<const std::uint16_t*>(buffers.query),
          .keys = static_cast<const std::uint8_t*>(buffers.keys),
          .values = static_cast<const std::uint8_t*>(buffers.values),
          .block_table = buffers.block_table,
          .contexts = buffers.contexts,
          .output = static_cast<std::uint16_t*>(buffers.output),
          .accumulators = accumulators,
          .states = states,
          .query_heads = shape.batch * shape.heads,
          .max_blocks = shape.max_blocks,
          .heads = static_cast<int>(shape.heads),
          .kv_heads = static_cast<int>(shape.kv_heads),
          .head_tiles = static_cast<int>(decode_head_tiles(shape)),
          .window = static_cast<int>(shape.window),
          .plan = plan,
          .score_scale = static_cast<float>(score_scale) * widened * buffers.key_scale,
          .value_scale = widened * buffers.value_scale,
          .query_type = shape.query_type};
}

}  // namespace inferometer::kernels
