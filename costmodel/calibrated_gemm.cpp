#include "costmodel/calibrated_gemm.hpp"

#include "base/portable_math.hpp"

namespace inferometer {

CalibratedGemm::CalibratedGemm(const CalibratedKernels& kernels, const Operator& product)
    : kernels_(kernels), corrections_(kernels, product) {
}

RooflineParts CalibratedGemm::parts(std::int64_t rows) const {
  const auto m = static_cast<double>(rows);
  const RooflineParts roofline =
      roofline_parts(corrections_.call_at(m), corrections_.chosen().fit->roofline, kernels_.gpu());
  const double factor = portable_exp(corrections_.at(m));
  return {roofline.start_up_s * factor, roofline.compute_s * factor, roofline.bandwidth_s * factor};
}

}  // namespace inferometer
