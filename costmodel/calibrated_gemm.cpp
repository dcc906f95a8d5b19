#include "costmodel/calibrated_gemm.hpp"

#include <algorithm>

#include "base/portable_math.hpp"

namespace inferometer {
namespace {

/// TensorRT-LLM's fp8 products were timed together with the kernel that quantises their input (12.9 us for
/// the smallest against 5.3 us of vLLM's, which were timed without it: ai-dynamo/aiconfigurator @095f58a5).
/// It takes that long at least, or what reading bf16 and writing fp8 takes at the bandwidth of elementwise
/// kernels. In a served model the norm, attention and activation kernels before the products write fp8
/// themselves.
constexpr double kLeastQuantisationS = 7.6e-6;
constexpr double kQuantisedBytes = 3;
constexpr double kElementwiseEfficiency = 0.8;

double quantisation_s(const CalibratedKernels& kernels, const KernelFit& fit, const KernelCall& call) {
  const bool is_timed_beside =
      kernels.library() == "tensorrt-llm" && fit.variant == "fp8" && fit.library.empty();
  const double bytes = kQuantisedBytes * call.axes[0] * call.axes[2];
  const double stream_s = bytes / (kElementwiseEfficiency * kernels.gpu().hbm_bandwidth.count());
  return is_timed_beside ? std::max(kLeastQuantisationS, stream_s) : 0;
}

/// Out of the start-up first.
RooflineParts less(const RooflineParts& parts, double seconds) {
  const double of_start_up = std::min(parts.start_up_s, seconds);
  const double rest = parts.compute_s + parts.bandwidth_s;
  const double left = rest > 0 ? std::max(0.0, 1 - (seconds - of_start_up) / rest) : 0;
  return {parts.start_up_s - of_start_up, parts.compute_s * left, parts.bandwidth_s * left};
}

}  // namespace

CalibratedGemm::CalibratedGemm(const CalibratedKernels& kernels, const Operator& product)
    : kernels_(kernels), corrections_(kernels, product) {
}

RooflineParts CalibratedGemm::parts(std::int64_t rows) const {
  const KernelCall call = corrections_.call_at(static_cast<double>(rows));
  const KernelFit& fit = *corrections_.chosen().fit;
  const RooflineParts roofline = roofline_parts(call, fit.roofline, kernels_.gpu());
  const double factor = portable_exp(corrections_.at(static_cast<double>(rows)));
  const RooflineParts timed = {roofline.start_up_s * factor, roofline.compute_s * factor,
                               roofline.bandwidth_s * factor};
  return less(timed, quantisation_s(kernels_, fit, call));
}

}  // namespace inferometer
