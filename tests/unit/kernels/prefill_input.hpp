#pragma once

// Ragged batches for prefill attention and how far an output is from the reference. Who uses it: the test
// that emulates the kernels and the one that runs them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention/prefill_attention.hpp"
#include "kernels/common/random_element.hpp"

namespace inferometer::testing {

using kernels::ElementType;
using kernels::PrefillAttentionBuffers;
using kernels::PrefillAttentionShape;
using kernels::PrefillSequence;

struct PrefillBatch {
  std::vector<PrefillSequence> sequences;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t window;
};

/// Inputs and outputs of a batch. Queries are scaled up: scores spread over several units, as trained models'
/// do.
class PrefillInput {
 public:
  PrefillInput(const PrefillBatch& batch, ElementType element, std::int64_t head_dim) {
    shape = {.batch = static_cast<std::int64_t>(batch.sequences.size()),
             .heads = batch.heads,
             .kv_heads = batch.kv_heads,
             .head_dim = head_dim,
             .window = batch.window,
             .element = element};
    query_offsets.push_back(0);
    key_offsets.push_back(0);
    for (const PrefillSequence& sequence : batch.sequences) {
      shape.max_tokens = std::max(shape.max_tokens, sequence.tokens);
      shape.total_tokens += sequence.tokens;
      shape.total_keys += sequence.tokens + sequence.past;
      query_offsets.push_back(static_cast<std::int32_t>(shape.total_tokens));
      key_offsets.push_back(static_cast<std::int32_t>(shape.total_keys));
    }
    query = filled(1, shape.total_tokens * shape.heads * head_dim, 8);
    keys = filled(2, shape.total_keys * shape.kv_heads * head_dim, 1);
    values = filled(3, shape.total_keys * shape.kv_heads * head_dim, 1);
    output.assign(query.size() + static_cast<std::size_t>(kGuardRows * shape.heads * head_dim), kUnwritten);
  }

  [[nodiscard]] PrefillAttentionBuffers buffers() {
    return {query.data(),  keys.data(),          values.data(),
            output.data(), query_offsets.data(), key_offsets.data()};
  }

  /// Largest error of the output, as a share of the largest magnitude of a value, over every `step`th row.
  [[nodiscard]] double worst_error(std::int64_t step = 1) const {
    const auto guard = output.begin() + static_cast<std::ptrdiff_t>(query.size());
    if (std::any_of(guard, output.end(), [](std::uint16_t bits) { return bits != kUnwritten; })) {
      return kNoResult;
    }
    double worst = 0;
    for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence) {
      const auto at = static_cast<std::size_t>(sequence);
      const std::int64_t tokens = query_offsets[at + 1] - query_offsets[at];
      const std::int64_t past = key_offsets[at + 1] - key_offsets[at] - tokens;
      for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t head = 0; head < shape.heads; ++head) {
          if ((token * shape.heads + head) % step == 0) {
            worst = std::max(worst, row_error(sequence, token, past + token, head));
          }
        }
      }
    }
    return worst;
  }

  PrefillAttentionShape shape;
  std::vector<std::uint16_t> query, keys, values, output;
  std::vector<std::int32_t> query_offsets, key_offsets;

 private:
  static constexpr std::int64_t kGuardRows = 128;      ///< after the output: nothing may write there
  static constexpr std::uint16_t kUnwritten = 0xFFFF;  ///< NaN
  static constexpr double kNoResult = 1e9;             ///< as an error: above every tolerance

  [[nodiscard]] std::vector<std::uint16_t> filled(std::uint64_t seed, std::int64_t count, float scale) const {
    std::vector<std::uint16_t> bits;
    for (std::int64_t i = 0; i < count; ++i) {
      const float element = scale * kernels::random_element(seed, static_cast<std::uint64_t>(i));
      bits.push_back(static_cast<std::uint16_t>(kernels::bits_of(element, shape.element)));
    }
    return bits;
  }

  [[nodiscard]] double element(const std::vector<std::uint16_t>& array, std::int64_t row, std::int64_t heads,
                               std::int64_t head, std::size_t column) const {
    const std::int64_t at = (row * heads + head) * shape.head_dim + static_cast<std::int64_t>(column);
    return kernels::value_of(array[static_cast<std::size_t>(at)], shape.element);
  }

  [[nodiscard]] double row_error(std::int64_t sequence, std::int64_t token, std::int64_t position,
                                 std::int64_t head) const {
    const std::int64_t row = query_offsets[static_cast<std::size_t>(sequence)] + token;
    const std::int64_t first_key = key_offsets[static_cast<std::size_t>(sequence)];
    const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
    std::vector<double> of_query;
    for (std::size_t column = 0; column < static_cast<std::size_t>(shape.head_dim); ++column) {
      of_query.push_back(element(query, row, shape.heads, head, column));
    }
    const auto of = [&](const std::vector<std::uint16_t>& array) {
      return [&](std::int64_t key, std::size_t column) {
        return element(array, first_key + key, shape.kv_heads, kv_head, column);
      };
    };
    const std::vector<double> expected =
        kernels::prefill_attention_reference(of_query, position, shape.window, of(keys), of(values));
    double worst = 0;
    for (std::size_t column = 0; column < expected.size(); ++column) {
      const double error = std::fabs(element(output, row, shape.heads, head, column) - expected[column]);
      worst = std::isnan(error) ? error : std::max(worst, error);
      if (std::isnan(worst)) {
        return kNoResult;
      }
    }
    return worst;
  }
};

}  // namespace inferometer::testing
