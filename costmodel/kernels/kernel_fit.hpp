#pragma once

// What a profile knows about kernels of one family and number format: the roofline with fitted constants, a
// correction in the ratio to it, the range it was fitted in, and how far off it was on shapes it had not
// seen. Who uses it: the calibrated step pricer, the validation, and the fit that makes it.

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/kernels/kernel_call.hpp"
#include "costmodel/kernels/kernel_roofline.hpp"
#include "costmodel/kernels/prediction_error.hpp"
#include "costmodel/kernels/regression_trees.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Smallest and largest measured value of an axis.
struct AxisRange {
  double low = 0, high = 0;
};

/// A collective's time by size, as a ratio to the roofline: straight in log(bytes) between knots, level
/// beyond them.
struct SizeCurve {
  double gpus = 0;
  std::vector<double> bytes;      ///< ascending
  std::vector<double> log_ratio;  ///< of as many
};

struct KernelFit {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;
  std::string library;  ///< "tensorrt-llm 1.3.0rc20": borrowed from there; empty: of the profile's own
  RooflineConstants roofline;
  RegressionTrees trees;        ///< log(time / roofline) over kernel_features(); empty: none
  std::vector<double> slopes;   ///< experts only: added to `trees`, linear_trend() over their edges
  RegressionTrees trees_in_l2;  ///< the same where fits_in_l2(); empty: `trees` hold there, too
  std::vector<double> rows;  ///< GEMM and experts only: measured rows (tokens), ascending; empty: not known
  std::vector<SizeCurve> curves;     ///< collectives only, by number of GPUs
  std::vector<AxisRange> range;      ///< measured, by axis
  std::vector<RegionError> regions;  ///< on shapes left out of the fit
  std::int64_t points = 0;
};

/// Predicted seconds of a call of the fit's family and variant. O(trees x depth).
double predicted_seconds(const KernelFit& fit, const KernelCall& call, const GpuSpec& gpu);

/// log(predicted / roofline).
double log_correction(const KernelFit& fit, const KernelCall& call, const GpuSpec& gpu);

/// By what factor the axis that lies farthest outside the measured range lies outside; 1 within.
double extrapolation(const KernelFit& fit, const KernelCall& call);

/// The fit's error in a region; where none was measured there, in its first; nullptr for a fit without
/// errors.
const RegionError* error_of(const KernelFit& fit, std::string_view region);

/// Name of the part of the range that a call lies in; the error of each is reported by itself.
std::string_view region_of(const KernelCall& call, const GpuSpec& gpu);

/// Whether a decode attention's keys and values stay in the L2 cache from one run of a benchmark to the next:
/// what is then measured is not what happens between the other kernels of a step. False for other families.
bool fits_in_l2(const KernelCall& call, const GpuSpec& gpu);

}  // namespace inferometer
