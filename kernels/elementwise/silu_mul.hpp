#pragma once

// The activation of a gated feed-forward layer (SwiGLU: Shazeer 2020):
//
//   input   (tokens, 2 ffn) bf16, rows contiguous: gate in columns [0, ffn), up in [ffn, 2 ffn), as one
//   matrix
//           product leaves them
//   output  (tokens, ffn) bf16:  silu(gate) * up,  silu(x) = x / (1 + exp(-x))
//
// Computed in fp32. Any tokens >= 1; ffn a multiple of 8. Buffers 16-byte aligned.

#include <cmath>
#include <cstdint>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct SiluMulShape {
  std::int64_t tokens = 0;
  std::int64_t ffn = 0;
};

struct SiluMulBuffers {
  const void* input = nullptr;
  void* output = nullptr;
};

/// Largest relative error of an output: half a step of bf16 (2^-8) and few roundings of fp32. Below 1e-30
/// outputs may be 0.
inline constexpr double kSiluMulTolerance = 0.005;

constexpr Work silu_mul_work(const SiluMulShape& shape) {
  const double elements = static_cast<double>(shape.tokens) * static_cast<double>(shape.ffn);
  return {.flops = 5 * elements, .bytes = 2 * 3 * elements};
}

inline double silu_mul_reference(double gate, double up) {
  return gate / (1 + std::exp(-gate)) * up;
}

LaunchResult silu_mul(const SiluMulShape& shape, const SiluMulBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
