#include <cuda_bf16.h>

#include "kernels/common/launch_check.cuh"
#include "kernels/elementwise/rms_norm.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel: one block a token; each thread keeps its columns in registers between the two passes ----

constexpr int kThreads = 256;
constexpr int kVector = 8;  // bf16 of one 16-byte access
constexpr std::int64_t kColumnsOfTurn = kThreads * kVector;

__device__ float sum_over_block(float value) {
  __shared__ float of_warp[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float total = 0;
  for (const float part : of_warp) {
    total += part;
  }
  return total;
}

struct alignas(16) Vector {
  __nv_bfloat16 elements[kVector];
};

template <int kTurns, bool kAddsResidual>
__global__ void __launch_bounds__(kThreads)
    rms_norm_kernel(int width, const Vector* input, Vector* residual, const Vector* weight, Vector* output) {
  const int vectors = width / kVector;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * vectors;
  Vector x[kTurns];
  float squares = 0;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int column = turn * kThreads + static_cast<int>(threadIdx.x);
    if (column < vectors) {
      x[turn] = input[row + column];
      if constexpr (kAddsResidual) {
        const Vector before = residual[row + column];
#pragma unroll
        for (int lane = 0; lane < kVector; ++lane) {
          x[turn].elements[lane] = __float2bfloat16_rn(__bfloat162float(x[turn].elements[lane]) +
                                                       __bfloat162float(before.elements[lane]));
        }
        residual[row + column] = x[turn];
      }
#pragma unroll
      for (int lane = 0; lane < kVector; ++lane) {
        const float element = __bfloat162float(x[turn].elements[lane]);
        squares += element * element;
      }
    }
  }
  const float scale = rsqrtf(sum_over_block(squares) / static_cast<float>(width) + kRmsNormEpsilon);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int column = turn * kThreads + static_cast<int>(threadIdx.x);
    if (column < vectors) {
      const Vector weights = weight[column];
      Vector result;
#pragma unroll
      for (int lane = 0; lane < kVector; ++lane) {
        result.elements[lane] = __float2bfloat16_rn(__bfloat162float(x[turn].elements[lane]) * scale *
                                                    __bfloat162float(weights.elements[lane]));
      }
      output[row + column] = result;
    }
  }
}

template <int kTurns>
void launch(const RmsNormShape& shape, const RmsNormBuffers& buffers, Stream stream) {
  const auto blocks = static_cast<unsigned>(shape.tokens);
  const auto* input = static_cast<const Vector*>(buffers.input);
  const auto* weight = static_cast<const Vector*>(buffers.weight);
  auto* residual = static_cast<Vector*>(buffers.residual);
  auto* output = static_cast<Vector*>(buffers.output);
  const int width = static_cast<int>(shape.width);
  if (shape.adds_residual) {
    rms_norm_kernel<kTurns, true><<<blocks, kThreads, 0, stream>>>(width, input, residual, weight, output);
  } else {
    rms_norm_kernel<kTurns, false><<<blocks, kThreads, 0, stream>>>(width, input, residual, weight, output);
  }
}

}  // namespace

// ---- launcher ----

LaunchResult rms_norm(const RmsNormShape& shape, const RmsNormBuffers& buffers, Stream stream) {
  if (shape.tokens < 1 || shape.tokens > INT32_MAX || shape.width < 1 || shape.width % kVector != 0 ||
      shape.width > 8 * kColumnsOfTurn) {
    return {KernelStatus::unsupported, "norm: tokens >= 1, width a multiple of 8 up to 16384"};
  }
  if (shape.width <= 2 * kColumnsOfTurn) {
    launch<2>(shape, buffers, stream);
  } else if (shape.width <= 4 * kColumnsOfTurn) {
    launch<4>(shape, buffers, stream);
  } else {
    launch<8>(shape, buffers, stream);
  }
  return launched();
}

}  // namespace inferometer::kernels
