#pragma once

// Time of one matrix product of a model by its number of rows. Who uses it: the calibrated step pricer, for
// each product and each number of tokens up to the largest step.

#include <cstdint>
#include <string_view>
#include <vector>

#include "costmodel/calibrated_kernels.hpp"

namespace inferometer {

/// The measured correction is taken at each of the first 128 rows, then at both ends of every tile of 64
/// rows, and runs straight between them: within a tile nothing changes but the work.
class CalibratedGemm {
 public:
  /// `product`: the operator at any number of rows; its fit must be known. Corrections up to `max_rows` are
  /// looked up once; beyond, at each call. `kernels` outlives this object.
  CalibratedGemm(const CalibratedKernels& kernels, const Operator& product, std::int64_t max_rows);

  [[nodiscard]] RooflineParts parts(std::int64_t rows) const;

 private:
  [[nodiscard]] KernelCall call_at(std::int64_t rows) const;
  [[nodiscard]] double correction_at(std::int64_t knot) const;
  [[nodiscard]] double correction(std::int64_t rows) const;

  const CalibratedKernels& kernels_;
  std::string_view name_;
  KernelCall call_;
  ChosenFit chosen_;
  std::vector<double> corrections_;  // by index of the knot
};

}  // namespace inferometer
