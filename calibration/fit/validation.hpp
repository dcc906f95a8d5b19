#pragma once

// Compares a profile, or the way profiles are fitted, with measurements. Who uses it: `inferometer calibrate
// validate`.

#include <string>
#include <vector>

#include "calibration/fit/kernel_fitting.hpp"
#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_profile.hpp"

namespace inferometer {

/// Name of the row that sums up a family and variant, over what was measured as it happens
/// (kernel_fitting.hpp, was_read_from_cache).
inline constexpr std::string_view kAllRegions = "all";

/// Errors of one family, variant and region.
struct ValidationRow {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;
  RegionError error;      ///< of these predictions against these measurements
  double covered_90 = 0;  ///< share within the 5 to 95 % interval that the profile gives
  KernelCall worst;       ///< the call that is farthest off
  Position worst_where;
  double worst_error = 0;           ///< predicted / measured - 1
  std::int64_t extrapolated = 0;    ///< points outside the fitted range
  std::vector<std::int64_t> chart;  ///< points by error, see kChartEdges
};

/// Borders of the chart's columns: predicted / measured - 1.
inline constexpr double kChartEdges[] = {-0.3, -0.2, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.2, 0.3};

struct Validation {
  std::vector<ValidationRow> rows;  ///< by family and variant: "all", then its regions
  std::vector<std::string> notes;   ///< what was not compared, and why
};

/// Predictions of the profile for what was measured on its GPU. Kernels of libraries it borrowed from are
/// compared only in families and variants of which there are none of its own, of other libraries only
/// when there are neither. Throws ConfigError when nothing can be compared.
Validation validate(const KernelProfile& profile, const std::vector<Measurements>& measured);

/// Errors of fits that have not seen what they predict: of each family and variant of the profile, refitted
/// to the measurements without a share of the shapes (or points), fold by fold.
Validation validate_held_out(const KernelProfile& profile, const std::vector<Measurements>& measured,
                             SplitBy split, int folds);

/// A list of {family, dtype, region, n, bias, median, mean, p90, covered_90}; errors are fractions.
std::string validation_json(const Validation& validation);

}  // namespace inferometer
