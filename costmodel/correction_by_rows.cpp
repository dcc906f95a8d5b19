#include "costmodel/correction_by_rows.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

CorrectionByRows::CorrectionByRows(const CalibratedKernels& kernels, const Operator& part)
    : kernels_(kernels), name_(part.name), call_(*part.call), chosen_(kernels.choose(call_)) {
  INFEROMETER_CHECK(chosen_.fit != nullptr, "an operator without a fit");
  for (const double rows : chosen_.fit->rows) {
    corrections_.push_back(kernels_.correction(name_, chosen_, call_at(rows)));
  }
}

KernelCall CorrectionByRows::call_at(double rows) const {
  KernelCall call = call_;
  call.axes[0] = rows;
  return call;
}

double CorrectionByRows::at(double rows) const {
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

}  // namespace inferometer
