#pragma once

// The points of a sweep, in the order in which they are measured. Who uses it: design_sweep.hpp makes it,
// measure_sweep.hpp measures it, `calibrate run --dry-run` prints it.

#include <string>
#include <vector>

#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// What a measured point is for.
enum class PointUse {
  fit,      ///< the profile is fitted to it
  held_out  ///< kept back: the profile is judged by it
};

struct SweepPoint {
  KernelCall call;
  PointUse use = PointUse::fit;
  double expected_seconds = 0;  ///< of measuring it: preparation, verification and all samples
};

/// Points are ordered by what they add: a sweep that is cut short has the best of its points so far, of every
/// family its share.
struct SweepPlan {
  std::vector<SweepPoint> points;
  double budget_seconds = 0;

  [[nodiscard]] double expected_seconds() const;
};

}  // namespace inferometer
