#pragma once

// A kernel's outputs beside the reference. Who uses it: the runners' checks.

#include <cstdint>

#include "calibration/measure/kernel_device.hpp"

namespace inferometer {

class Comparison {
 public:
  /// Output `index` may differ from `want` by `allowed` (> 0). NaN on either side is wrong.
  void add(std::int64_t index, double got, double want, double allowed);

  /// Something that no allowance covers: `what` is a phrase such as "3 outputs are NaN".
  void add_wrong(const std::string& what);

  /// What was left over from the poison, or computed as NaN, anywhere in the output.
  void add_nonfinite(std::uint64_t nans, std::uint64_t infinities);

  /// Passed when something was compared and nothing was wrong.
  [[nodiscard]] Verification result() const;

 private:
  Verification found_;
  bool wrong_ = false;
};

}  // namespace inferometer
