#pragma once

// The product of a linear layer, by cuBLASLt:
//
//   output = input weights^T
//   input    (m, k)  row-major, rows contiguous: m tokens of k features
//   weights  (n, k)  row-major: n outputs, as checkpoints store them
//   output   (m, n)  row-major
//
//   type      input, weights   output   sums
//   bf16      bf16             bf16     fp32, also where k is split
//   fp16      fp16             fp16     fp32
//   fp8_e4m3  e4m3             bf16     of the tensor cores' fast accumulation, as serving engines choose;
//                                       times the scales of input and weights, one each for the whole tensor
//
// bf16 and fp16: k and n multiples of 8; fp8: of 16, and compute capability 8.9 or above. Others are refused:
// cuBLASLt would take slow paths or none. All buffers 256-byte aligned, which cuBLASLt assumes when it ranks.
//
// cuBLASLt has many algorithms for a shape. A plan holds those that its heuristic ranks first, at most
// kMostGemmCandidates; which of them is fastest only a clock tells (kernels/gemm/candidate_search.hpp).

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  ElementType type = ElementType::bf16;
};

struct GemmBuffers {
  const void* input = nullptr;
  const void* weights = nullptr;
  void* output = nullptr;
  const float* input_scale = nullptr;   ///< one number in device memory; fp8 only
  const float* weight_scale = nullptr;  ///< likewise
  void* workspace = nullptr;            ///< kGemmWorkspaceBytes; contents of no meaning
};

constexpr ElementType output_type(const GemmShape& shape) {
  return shape.type == ElementType::fp16 ? ElementType::fp16 : ElementType::bf16;
}

/// Twice what NVIDIA's cuBLAS guide recommends for Hopper (32 MiB; 4 MiB before), so that no candidate that
/// splits k is left out for want of space.
inline constexpr std::int64_t kGemmWorkspaceBytes = std::int64_t{64} << 20;

/// Each costs a sweep as much time as a sample of the kernel: more candidates are fewer points.
inline constexpr int kMostGemmCandidates = 8;

constexpr Work gemm_work(const GemmShape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return {.flops = 2 * m * n * k,
          .bytes = bytes_of(shape.type) * (n * k + m * k) + bytes_of(output_type(shape)) * m * n};
}

/// One element of a product, and the sum of its terms' magnitudes, which rounding errors go with.
struct DotProduct {
  double value = 0;
  double magnitude = 0;
};

/// Row of the input times row of the weights, in double. `scale`: of input times weights; 1 without.
inline DotProduct gemm_reference(const std::vector<double>& input_row, const std::vector<double>& weight_row,
                                 double scale) {
  DotProduct sum;
  for (std::size_t index = 0; index < input_row.size(); ++index) {
    const double term = scale * input_row[index] * weight_row[index];
    sum.value += term;
    sum.magnitude += std::fabs(term);
  }
  return sum;
}

/// Largest error of an output for inputs of random sign: that of its rounding, half a step, at most 2^-8 of
/// the value in bf16; and that of the sums. Sums in fp32 lose 2^-23 of the largest partial sum at each of at
/// most k / 8 additions, in all far below 1e-5 of the magnitude. Fast accumulation of fp8 keeps 14 bits and
/// loses up to 2^-13 at each of k / 32 additions of partial sums that are up to 4 / sqrt(k) of the magnitude
/// (three standard deviations): sqrt(k) 2^-16 of it. Few additions lose more, of products cut off to the
/// largest one's steps: 2^-10 at the least.
inline double gemm_tolerance(const GemmShape& shape, const DotProduct& expected) {
  const double of_fast = std::fmax(0x1p-10, std::sqrt(static_cast<double>(shape.k)) * 0x1p-16);
  const double of_sums = shape.type == ElementType::fp8_e4m3 ? of_fast : 1e-5;
  return 0x1p-8 * std::fabs(expected.value) + of_sums * expected.magnitude;
}

/// cuBLASLt opened for the current GPU; made once, as that takes milliseconds. Outlives its plans.
struct GemmLibrary;
/// Algorithms for one shape. One thread at a time.
struct GemmPlan;

void destroy(GemmLibrary* library);
void destroy(GemmPlan* plan);

struct DestroyGemm {
  template <class Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};
using GemmLibraryPtr = std::unique_ptr<GemmLibrary, DestroyGemm>;
using GemmPlanPtr = std::unique_ptr<GemmPlan, DestroyGemm>;

LaunchResult open_gemm_library(GemmLibraryPtr& library);

/// As cublasLtGetVersion() says: 130001 is 13.0.1; 12.4.5 is 120405.
std::int64_t gemm_library_version();

/// Asks the heuristic: milliseconds on the host. Unsupported: alignment, or no algorithm on this GPU.
LaunchResult plan_gemm(const GemmLibrary& library, const GemmShape& shape, GemmPlanPtr& plan);

/// How many candidates a plan has, 1 to kMostGemmCandidates, in the heuristic's order.
int candidates_of(const GemmPlan& plan);

/// Queues the product by one candidate. Precondition: 0 <= candidate < candidates_of(plan). A candidate that
/// this GPU refuses after all is `unsupported`; others may run.
LaunchResult gemm(GemmPlan& plan, int candidate, const GemmBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
