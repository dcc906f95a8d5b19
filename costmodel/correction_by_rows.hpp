#pragma once

// The correction of one operator of a model by its number of rows (experts: tokens). Who uses it: prices of
// matrix products and of experts.

#include <string_view>
#include <vector>

#include "costmodel/calibrated_kernels.hpp"

namespace inferometer {

/// It is taken at the numbers of rows that were measured, both sides of the edges of tiles among them, and
/// its logarithm runs straight between them; beyond the largest it stays. Where the profile does not say what
/// was measured, it is taken at each number of rows.
class CorrectionByRows {
 public:
  /// `part`: the operator at any number of rows; its fit must be known. `kernels` outlives this object.
  CorrectionByRows(const CalibratedKernels& kernels, const Operator& part);

  /// log of the correction. O(log of the numbers of rows that were measured).
  [[nodiscard]] double at(double rows) const;

  /// The operator's call with another number of rows.
  [[nodiscard]] KernelCall call_at(double rows) const;
  [[nodiscard]] const ChosenFit& chosen() const { return chosen_; }

 private:
  const CalibratedKernels& kernels_;
  std::string_view name_;
  KernelCall call_;
  ChosenFit chosen_;
  std::vector<double> corrections_;  // at the measured numbers of rows
};

}  // namespace inferometer
