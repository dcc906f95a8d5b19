#include "costmodel/calibrated_gemm.hpp"

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kEachRow = 128;
constexpr std::int64_t kTile = 64;

std::int64_t first_row_of_tile(std::int64_t rows) {
  return (rows - 1) / kTile * kTile + 1;
}

/// Knots in order: 1, 2, ... 128, 129, 192, 193, 256, ...
std::int64_t knot_index(std::int64_t knot) {
  if (knot <= kEachRow) {
    return knot - 1;
  }
  const std::int64_t tiles = (knot - 1) / kTile - kEachRow / kTile;
  return kEachRow + 2 * tiles + (knot % kTile == 0 ? 1 : 0);
}

}  // namespace

CalibratedGemm::CalibratedGemm(const CalibratedKernels& kernels, const Operator& product,
                               std::int64_t max_rows)
    : kernels_(kernels), name_(product.name), call_(*product.call), chosen_(kernels.choose(call_)) {
  INFEROMETER_CHECK(chosen_.fit != nullptr, "a product without a fit");
  for (std::int64_t row = 1; row <= max_rows && row <= kEachRow; ++row) {
    corrections_.push_back(kernels_.correction(name_, chosen_, call_at(row)));
  }
  for (std::int64_t first = kEachRow + 1; first <= max_rows; first += kTile) {
    corrections_.push_back(kernels_.correction(name_, chosen_, call_at(first)));
    corrections_.push_back(kernels_.correction(name_, chosen_, call_at(first + kTile - 1)));
  }
}

KernelCall CalibratedGemm::call_at(std::int64_t rows) const {
  KernelCall call = call_;
  call.axes[0] = static_cast<double>(rows);
  return call;
}

double CalibratedGemm::correction_at(std::int64_t knot) const {
  const auto index = static_cast<std::size_t>(knot_index(knot));
  return index < corrections_.size() ? corrections_[index]
                                     : kernels_.correction(name_, chosen_, call_at(knot));
}

double CalibratedGemm::correction(std::int64_t rows) const {
  if (rows <= kEachRow) {
    return correction_at(rows);
  }
  const std::int64_t first = first_row_of_tile(rows);
  const double at_first = correction_at(first);
  const double share = static_cast<double>(rows - first) / static_cast<double>(kTile - 1);
  return at_first + share * (correction_at(first + kTile - 1) - at_first);
}

RooflineParts CalibratedGemm::parts(std::int64_t rows) const {
  const RooflineParts roofline = roofline_parts(call_at(rows), chosen_.fit->roofline, kernels_.gpu());
  const double factor = portable_exp(correction(rows));
  return {roofline.start_up_s * factor, roofline.compute_s * factor, roofline.bandwidth_s * factor};
}

}  // namespace inferometer
