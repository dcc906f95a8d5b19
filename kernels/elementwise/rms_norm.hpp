#pragma once

// Root-mean-square norm of each token, alone or after adding the residual stream (Zhang, Sennrich 2019):
//
//   input, residual, output  (tokens, width) bf16, rows contiguous
//   weight                   (width) bf16
//
//   alone:          output = x / rms(x) * weight                 with x = input
//   with residual:  the same with x = input + residual, and residual = x rounded to bf16
//   rms(x) = sqrt(mean of x^2 over the width + epsilon)
//
// Sums are kept in fp32. Any tokens >= 1; widths of a multiple of 8 up to 16384.

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct RmsNormShape {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  bool adds_residual = false;
};

struct RmsNormBuffers {
  const void* input = nullptr;
  void* residual = nullptr;  ///< read and written when the shape adds it, else not used
  const void* weight = nullptr;
  void* output = nullptr;
};

inline constexpr float kRmsNormEpsilon = 1e-5f;

/// Largest relative error of an output against the reference: two roundings to bf16 and fp32 sums.
inline constexpr double kRmsNormTolerance = 0.01;

constexpr Work rms_norm_work(const RmsNormShape& shape) {
  const double elements = static_cast<double>(shape.tokens) * static_cast<double>(shape.width);
  return {.flops = 4 * elements, .bytes = 2 * (shape.adds_residual ? 4 : 2) * elements};
}

/// One token of the output, from its x (input, or input + residual) and the weights.
inline std::vector<double> rms_norm_reference(const std::vector<double>& x,
                                              const std::vector<double>& weight) {
  double squares = 0;
  for (const double element : x) {
    squares += element * element;
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + kRmsNormEpsilon);
  std::vector<double> output(x.size());
  for (std::size_t column = 0; column < x.size(); ++column) {
    output[column] = x[column] * scale * weight[column];
  }
  return output;
}

LaunchResult rms_norm(const RmsNormShape& shape, const RmsNormBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
