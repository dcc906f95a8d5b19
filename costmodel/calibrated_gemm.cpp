#include "costmodel/calibrated_gemm.hpp"

#include <algorithm>

#include "base/portable_math.hpp"

namespace inferometer {
namespace {

/// TensorRT-LLM's fp8 products were timed together with the kernel that quantises their input, whose least
/// time is that much: 12.9 us for the smallest products against 5.3 us of vLLM's, which were timed without it
/// (ai-dynamo/aiconfigurator @095f58a5). In a served model the norm, attention and activation kernels before
/// them write fp8 themselves.
constexpr double kSeparateQuantisationS = 7.6e-6;

double timed_beside(const CalibratedKernels& kernels, const KernelFit& fit) {
  const bool quantises = kernels.library() == "tensorrt-llm" && fit.variant == "fp8" && fit.library.empty();
  return quantises ? kSeparateQuantisationS : 0;
}

}  // namespace

CalibratedGemm::CalibratedGemm(const CalibratedKernels& kernels, const Operator& product)
    : kernels_(kernels), corrections_(kernels, product) {
}

RooflineParts CalibratedGemm::parts(std::int64_t rows) const {
  const auto m = static_cast<double>(rows);
  const RooflineParts roofline =
      roofline_parts(corrections_.call_at(m), corrections_.chosen().fit->roofline, kernels_.gpu());
  const double factor = portable_exp(corrections_.at(m));
  const double start_up_s =
      std::max(0.0, roofline.start_up_s * factor - timed_beside(kernels_, *corrections_.chosen().fit));
  return {start_up_s, roofline.compute_s * factor, roofline.bandwidth_s * factor};
}

}  // namespace inferometer
