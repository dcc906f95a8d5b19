#include "costmodel/calibrated_gemm.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {

CalibratedGemm::CalibratedGemm(const CalibratedKernels& kernels, const Operator& product)
    : kernels_(kernels), name_(product.name), call_(*product.call), chosen_(kernels.choose(call_)) {
  INFEROMETER_CHECK(chosen_.fit != nullptr, "a product without a fit");
  for (const double rows : chosen_.fit->rows) {
    corrections_.push_back(kernels_.correction(name_, chosen_, call_at(rows)));
  }
}

KernelCall CalibratedGemm::call_at(double rows) const {
  KernelCall call = call_;
  call.axes[0] = rows;
  return call;
}

double CalibratedGemm::correction(double rows) const {
  const std::vector<double>& knots = chosen_.fit->rows;
  if (knots.empty()) {
    return kernels_.correction(name_, chosen_, call_at(rows));
  }
  const auto above =
      static_cast<std::size_t>(std::upper_bound(knots.begin(), knots.end(), rows) - knots.begin());
  if (above == 0) {
    return corrections_.front();
  }
  const double low = corrections_[above - 1];
  if (above == knots.size()) {
    return low;
  }
  const double share = (rows - knots[above - 1]) / (knots[above] - knots[above - 1]);
  return low + share * (corrections_[above] - low);
}

RooflineParts CalibratedGemm::parts(std::int64_t rows) const {
  const auto m = static_cast<double>(rows);
  const RooflineParts roofline = roofline_parts(call_at(m), chosen_.fit->roofline, kernels_.gpu());
  const double factor = portable_exp(correction(m));
  return {roofline.start_up_s * factor, roofline.compute_s * factor, roofline.bandwidth_s * factor};
}

}  // namespace inferometer
