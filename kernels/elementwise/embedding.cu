#include "kernels/common/divide_up.hpp"
#include "kernels/common/launch_check.cuh"
#include "kernels/elementwise/embedding.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel: a block has a stretch of one token's row, a thread up to four vectors of it ----

constexpr int kVector = 8;  // bf16 of one 16-byte access
constexpr int kThreads = 128;
constexpr int kUnroll = 4;
constexpr int kVectorsOfBlock = kThreads * kUnroll;

__global__ void __launch_bounds__(kThreads)
    embedding_kernel(int vectors, unsigned blocks_of_token, const std::int32_t* ids, const uint4* table,
                     uint4* output) {
  const std::int64_t token = blockIdx.x / blocks_of_token;
  const int first =
      static_cast<int>(blockIdx.x % blocks_of_token) * kVectorsOfBlock + static_cast<int>(threadIdx.x);
  const uint4* row = table + static_cast<std::int64_t>(ids[token]) * vectors;
  uint4 bits[kUnroll];
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int column = first + turn * kThreads;
    if (column < vectors) {
      bits[turn] = __ldg(row + column);
    }
  }
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int column = first + turn * kThreads;
    if (column < vectors) {
      output[token * vectors + column] = bits[turn];
    }
  }
}

}  // namespace

// ---- launcher ----

LaunchResult embedding(const EmbeddingShape& shape, const EmbeddingBuffers& buffers, Stream stream) {
  if (shape.tokens < 1 || shape.width < 1 || shape.width % kVector != 0 || shape.width > INT32_MAX) {
    return {KernelStatus::unsupported, "embedding: tokens >= 1, width a multiple of 8"};
  }
  const int vectors = static_cast<int>(shape.width / kVector);
  const std::int64_t blocks_of_token = divide_up(vectors, kVectorsOfBlock);
  if (shape.tokens > INT32_MAX / blocks_of_token) {
    return {KernelStatus::unsupported, "embedding: more elements than a grid of blocks has"};
  }
  embedding_kernel<<<static_cast<unsigned>(shape.tokens * blocks_of_token), kThreads, 0, stream>>>(
      vectors, static_cast<unsigned>(blocks_of_token), buffers.ids, static_cast<const uint4*>(buffers.table),
      static_cast<uint4*>(buffers.output));
  return launched();
}

}  // namespace inferometer::kernels
