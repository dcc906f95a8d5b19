#pragma once

// Time of one matrix product of a model by its number of rows. Who uses it: the calibrated step pricer, for
// each product and each number of tokens up to the largest step.

#include <cstdint>
#include <string_view>
#include <vector>

#include "costmodel/calibrated_kernels.hpp"

namespace inferometer {

/// The correction is taken at the numbers of rows that were measured, both sides of the edges of tiles among
/// them, and its logarithm runs straight between them; beyond the largest it stays. Where the profile does
/// not say what was measured, it is taken at each number of rows.
class CalibratedGemm {
 public:
  /// `product`: the operator at any number of rows; its fit must be known. `kernels` outlives this object.
  CalibratedGemm(const CalibratedKernels& kernels, const Operator& product);

  /// O(log of the numbers of rows that were measured).
  [[nodiscard]] RooflineParts parts(std::int64_t rows) const;

 private:
  [[nodiscard]] KernelCall call_at(double rows) const;
  [[nodiscard]] double correction(double rows) const;

  const CalibratedKernels& kernels_;
  std::string_view name_;
  KernelCall call_;
  ChosenFit chosen_;
  std::vector<double> corrections_;  // at the measured numbers of rows
};

}  // namespace inferometer
