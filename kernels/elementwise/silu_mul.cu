#include "kernels/common/divide_up.hpp"
#include "kernels/common/element.cuh"
#include "kernels/common/launch_check.cuh"
#include "kernels/elementwise/silu_mul.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel: a block has a stretch of one token's columns, a thread two vectors of it ----

using Vector = Vector16<Bf16>;
constexpr int kThreads = 256;
constexpr int kUnroll = 2;
constexpr int kVectorsOfBlock = kThreads * kUnroll;

__device__ Vector activated(const Vector& gate, const Vector& up) {
  Vector result;
#pragma unroll
  for (int lane = 0; lane < Vector::kCount; ++lane) {
    const float x = as_float(gate.elements[lane]);
    result.elements[lane] = from_float<Bf16>(__fdividef(x, 1 + __expf(-x)) * as_float(up.elements[lane]));
  }
  return result;
}

__global__ void __launch_bounds__(kThreads)
    silu_mul_kernel(int vectors, unsigned blocks_of_token, const Vector* input, Vector* output) {
  const std::int64_t token = blockIdx.x / blocks_of_token;
  const int first =
      static_cast<int>(blockIdx.x % blocks_of_token) * kVectorsOfBlock + static_cast<int>(threadIdx.x);
  const Vector* gate = input + token * 2 * vectors;
  const Vector* up = gate + vectors;
  Vector gates[kUnroll];
  Vector ups[kUnroll];
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int column = first + turn * kThreads;
    if (column < vectors) {
      gates[turn] = gate[column];
      ups[turn] = up[column];
    }
  }
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int column = first + turn * kThreads;
    if (column < vectors) {
      output[token * vectors + column] = activated(gates[turn], ups[turn]);
    }
  }
}

}  // namespace

// ---- launcher ----

LaunchResult silu_mul(const SiluMulShape& shape, const SiluMulBuffers& buffers, Stream stream) {
  if (shape.tokens < 1 || shape.ffn < 1 || shape.ffn % Vector::kCount != 0 || shape.ffn > INT32_MAX) {
    return {KernelStatus::unsupported, "silu_mul: tokens >= 1, ffn a multiple of 8"};
  }
  const int vectors = static_cast<int>(shape.ffn / Vector::kCount);
  const std::int64_t blocks_of_token = divide_up(vectors, kVectorsOfBlock);
  if (shape.tokens > INT32_MAX / blocks_of_token) {
    return {KernelStatus::unsupported, "silu_mul: more elements than a grid of blocks has"};
  }
  silu_mul_kernel<<<static_cast<unsigned>(shape.tokens * blocks_of_token), kThreads, 0, stream>>>(
      vectors, static_cast<unsigned>(blocks_of_token), static_cast<const Vector*>(buffers.input),
      static_cast<Vector*>(buffers.output));
  return launched();
}

}  // namespace inferometer::kernels
