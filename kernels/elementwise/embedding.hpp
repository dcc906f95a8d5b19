#pragma once

// Rows of the embedding table, one a token:
//
//   ids     (tokens) int32, each in [0, vocab)
//   table   (vocab, width) bf16, rows contiguous
//   output  (tokens, width) bf16:  output[t] = table[ids[t]]
//
// Any tokens >= 1; width a multiple of 8. Buffers 16-byte aligned. Exact: bits are copied.

#include <cstdint>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct EmbeddingShape {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
};

struct EmbeddingBuffers {
  const std::int32_t* ids = nullptr;
  const void* table = nullptr;
  void* output = nullptr;
};

/// Rows that tokens share are counted for each of them; ids are too small to count.
constexpr Work embedding_work(const EmbeddingShape& shape) {
  return {.flops = 0, .bytes = 2 * 2 * static_cast<double>(shape.tokens) * static_cast<double>(shape.width)};
}

LaunchResult embedding(const EmbeddingShape& shape, const EmbeddingBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
