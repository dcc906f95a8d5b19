#include "kernels/common/launch_check.cuh"
#include "kernels/sampling/argmax.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel ----

using Key = unsigned long long;  // argmax_key(), as the type that atomics take

constexpr int kThreads = 512;
constexpr int kUnroll = 8;

struct alignas(16) RowCell {
  Key best;
  unsigned arrived;
};

__device__ Key best_of_range(const float* row, std::int64_t begin, std::int64_t end) {
  constexpr float kLowest = -INFINITY;
  float best = kLowest;
  std::int64_t best_index = begin + threadIdx.x;
  if (best_index >= end) {
    return 0;
  }
  for (std::int64_t start = best_index; start < end; start += kThreads * kUnroll) {
    float logits[kUnroll];
#pragma unroll
    for (int turn = 0; turn < kUnroll; ++turn) {
      const std::int64_t index = start + turn * kThreads;
      logits[turn] = index < end ? __ldg(row + index) : kLowest;
    }
#pragma unroll
    for (int turn = 0; turn < kUnroll; ++turn) {
      if (logits[turn] > best) {
        best = logits[turn];
        best_index = start + turn * kThreads;
      }
    }
  }
  return argmax_key(__float_as_uint(best + 0.0f), static_cast<std::uint32_t>(best_index));
}

/// In the first thread.
__device__ Key best_of_block(Key key) {
  __shared__ Key of_warp[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    key = max(key, __shfl_xor_sync(0xffffffffu, key, offset));
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = key;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (const Key of_other : of_warp) {
      key = max(key, of_other);
    }
  }
  return key;
}

__global__ void __launch_bounds__(kThreads)
    argmax_kernel(std::int64_t vocab, std::int64_t part, unsigned parts, const float* logits,
                  std::int32_t* tokens, RowCell* cells) {
  const std::int64_t row = blockIdx.x / parts;
  const std::int64_t begin = blockIdx.x % parts * part;
  const Key key = best_of_block(best_of_range(logits + row * vocab, begin, min(begin + part, vocab)));
  if (threadIdx.x != 0) {
    return;
  }
  if (parts == 1) {
    tokens[row] = index_of_argmax_key(key);
    return;
  }
  RowCell& cell = cells[row];
  atomicMax(&cell.best, key);
  __threadfence();
  if (atomicAdd(&cell.arrived, 1u) == parts - 1) {
    __threadfence();
    tokens[row] = index_of_argmax_key(atomicExch(&cell.best, Key{0}));
    cell.arrived = 0;  // for the next call
  }
}

}  // namespace

// ---- launcher ----

LaunchResult argmax(const ArgmaxShape& shape, const ArgmaxBuffers& buffers, Stream stream) {
  if (shape.rows < 1 || shape.vocab < 1 || shape.vocab > INT32_MAX) {
    return {KernelStatus::unsupported, "argmax: rows >= 1, vocab from 1 to 2^31 - 1"};
  }
  int device = 0;
  int multiprocessors = 0;
  if (const LaunchResult result = result_of(cudaGetDevice(&device)); !result.ok()) {
    return result;
  }
  if (const LaunchResult result =
          result_of(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
      !result.ok()) {
    return result;
  }
  const std::int64_t part = argmax_part(shape, multiprocessors);
  const std::int64_t parts = divide_up(shape.vocab, part);
  if (shape.rows > INT32_MAX / parts) {
    return {KernelStatus::unsupported, "argmax: more rows than a grid of blocks has"};
  }
  argmax_kernel<<<static_cast<unsigned>(shape.rows * parts), kThreads, 0, stream>>>(
      shape.vocab, part, static_cast<unsigned>(parts), buffers.logits, buffers.tokens,
      static_cast<RowCell*>(buffers.workspace));
  return launched();
}

}  // namespace inferometer::kernels
