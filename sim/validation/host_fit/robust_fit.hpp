#pragma once

// Robust least squares with few unknowns that may not fall below a bound. Who uses it: the fit of host times
// (host_fit.hpp), at each of its steps and for its intervals. Plain arithmetic: the same bytes everywhere.

#include <cstddef>
#include <span>
#include <vector>

namespace inferometer {

/// Residuals and what they do when the unknowns move: residual + derivatives * step.
struct LinearResiduals {
  std::size_t unknowns = 0;
  std::vector<double> residuals;
  std::vector<double> derivatives;  ///< row by row, residuals.size() * unknowns

  [[nodiscard]] double derivative(std::size_t row, std::size_t unknown) const {
    return derivatives[row * unknowns + unknown];
  }
};

/// How far residuals scatter around 0: 1.4826 times the median of their sizes, which for normal errors is
/// their standard deviation. Precondition: at least one. O(n log n).
double robust_scale(std::span<const double> residuals);

/// Where Huber's loss turns from squares to a straight line, for 95 % efficiency with normal errors: 1.345
/// scales (Huber and Ronchetti, Robust Statistics, 2009).
double huber_limit(double scale);

/// Sum of r^2 / 2 up to the limit and limit * (|r| - limit / 2) beyond it. Precondition: limit > 0.
double huber_loss(std::span<const double> residuals, double limit);

/// Which unknowns these residuals tell anything about: a whole unit of them moves some residual by at least
/// `least`, and not as those before it do (at least 1 % of its column is at right angles to theirs). O(rows *
/// unknowns^2).
std::vector<bool> determined_unknowns(const LinearResiduals& problem, double least);

/// The step that makes the sum of weight * (residual + derivatives * step)^2 least, with each unknown's step
/// at or above `lowest` (<= 0). Exact: the least over all choices of unknowns that stand at their bound. A
/// direction in which nothing changes is not stepped into. Preconditions: a weight >= 0 a row; at most 8
/// unknowns. O(rows * unknowns^2 + 2^unknowns).
std::vector<double> bounded_step(const LinearResiduals& problem, std::span<const double> weights,
                                 std::span<const double> lowest);

/// The same for Huber's loss, by reweighting until the step stands still (30 times at most). `counts`: how
/// often each row counts, >= 0. Precondition: limit > 0.
std::vector<double> huber_step(const LinearResiduals& problem, std::span<const double> counts, double limit,
                               std::span<const double> lowest);

}  // namespace inferometer
