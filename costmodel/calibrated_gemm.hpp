#pragma once

// Time of one matrix product of a model by its number of rows. Who uses it: the calibrated step pricer, for
// each product and each number of tokens up to the largest step.

#include <cstdint>

#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/correction_by_rows.hpp"

namespace inferometer {

class CalibratedGemm {
 public:
  /// `product`: the operator at any number of rows; its fit must be known. `kernels` outlives this object.
  CalibratedGemm(const CalibratedKernels& kernels, const Operator& product);

  /// O(log of the numbers of rows that were measured).
  [[nodiscard]] RooflineParts parts(std::int64_t rows) const;

 private:
  const CalibratedKernels& kernels_;
  CorrectionByRows corrections_;
};

}  // namespace inferometer
