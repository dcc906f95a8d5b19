#pragma once

// Robust Gauss-Newton with derivatives by finite differences, and intervals by bootstrap. Who uses it: the
// fit of host times; its residuals come from simulations, each of which costs milliseconds.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/validation/host_fit/robust_fit.hpp"

namespace inferometer {

/// Of one unknown, in a unit in which it is about 1. Its bound below is 0.
struct FitUnknown {
  double start = 0;
  double probe = 0.1;  ///< least step for derivatives; a tenth of the value when that is more
  double most = 0;
};

/// Residuals at each of the points, all of the same length.
using ResidualsAt = std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>&)>;

struct GaussNewtonFit {
  std::vector<double> values;
  std::vector<bool> is_determined;  ///< at the last derivatives
  LinearResiduals at_solution;      ///< residuals there, the last derivatives; both in scales of their kind
  std::int64_t steps = 0;
  bool has_settled = false;  ///< no unknown moved by more than 1 %, or by more than 0.01 below 1
};

inline constexpr double kLeastScale = 0.002;  ///< simulations follow their inputs no closer

/// The least Huber loss that at most six steps find. Each costs 1 + unknowns evaluations, and as many again
/// as it has to be halved (three times at most) to lower the loss. What the residuals do not tell
/// (determined_unknowns() with 0.001 a unit) stays where it is. `kind_of_row`: for each residual which kind
/// of figure it is of, 0, 1, ...; a kind counts by its own robust_scale(), of kLeastScale at least, lest
/// those that scatter much drown the others. Precondition: residuals at all points.
GaussNewtonFit fit_gauss_newton(const std::vector<FitUnknown>& unknowns,
                                const std::vector<std::size_t>& kind_of_row, const ResidualsAt& residuals_at);

/// 5 and 95 % quantiles of the values over 500 draws of clusters of residuals with replacement, of the
/// problem as it is linear at the solution; both are the value for unknowns that are not determined.
/// `cluster_of`: for each residual which it belongs to, 0 to clusters - 1. Precondition: clusters >= 1.
std::vector<std::pair<double, double>> bootstrap_intervals(const GaussNewtonFit& fit,
                                                           const std::vector<std::size_t>& cluster_of,
                                                           std::size_t clusters);

}  // namespace inferometer
