#include "sim/validation/host_fit/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "base/quantile.hpp"

namespace inferometer {
namespace {

constexpr double kScaleOfMedian = 1.4826;  // 1 / (0.75 quantile of the normal distribution)
constexpr double kHuber = 1.345;           // in scales
constexpr double kOwnDirection = 0.01;     // share of a column at right angles to those before it
constexpr double kRidge = 1e-10;           // keeps a flat direction from being stepped into
constexpr int kMostReweightings = 30;
constexpr double kStandsStill = 1e-10;  // in the unknowns' units

/// Sums of weight * derivative * derivative and of weight * derivative * residual.
struct NormalEquations {
  std::size_t unknowns;
  std::vector<double> matrix, right;

  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return matrix[i * unknowns + j]; }
};

NormalEquations normal_equations(const LinearResiduals& problem, std::span<const double> weights) {
  const std::size_t n = problem.unknowns;
  NormalEquations normal{n, std::vector<double>(n * n), std::vector<double>(n)};
  for (std::size_t row = 0; row < problem.residuals.size(); ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      const double weighted = weights[row] * problem.derivative(row, i);
      normal.right[i] += weighted * problem.residuals[row];
      for (std::size_t j = 0; j < n; ++j) {
        normal.matrix[i * n + j] += weighted * problem.derivative(row, j);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    normal.matrix[i * n + i] *= 1 + kRidge;
  }
  return normal;
}

/// x with A x = b, for a symmetric A by Gauss's elimination with the largest pivot of the diagonal. Unknowns
/// without a pivot are 0.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  std::vector<bool> is_done(n, false);
  std::vector<std::size_t> order;
  for (std::size_t round = 0; round < n; ++round) {
    std::size_t pivot = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_done[i] && (pivot == n || a[i * n + i] > a[pivot * n + pivot])) {
        pivot = i;
      }
    }
    is_done[pivot] = true;
    if (!(a[pivot * n + pivot] > std::numeric_limits<double>::min())) {
      continue;  // nothing moves with it, nor with those that are left
    }
    order.push_back(pivot);
    for (std::size_t i = 0; i < n; ++i) {
      if (is_done[i]) {
        continue;
      }
      const double share = a[i * n + pivot] / a[pivot * n + pivot];
      b[i] -= share * b[pivot];
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= share * a[pivot * n + j];
      }
    }
  }
  std::vector<double> x(n);
  for (auto pivot = order.rbegin(); pivot != order.rend(); ++pivot) {
    double rest = b[*pivot];
    for (auto later = order.rbegin(); later != pivot; ++later) {
      rest -= a[*pivot * n + *later] * x[*later];
    }
    x[*pivot] = rest / a[*pivot * n + *pivot];
  }
  return x;
}

/// The step with the unknowns of `bound` at their bounds and the others free.
std::vector<double> step_on_face(const NormalEquations& normal, std::size_t bound,
                                 std::span<const double> lowest) {
  const std::size_t n = normal.unknowns;
  std::vector<double> step(n);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < n; ++i) {
    if ((bound >> i & 1U) != 0) {
      step[i] = lowest[i];
    } else {
      free.push_back(i);
    }
  }
  std::vector<double> matrix, right;
  for (const std::size_t i : free) {
    double rest = -normal.right[i];
    for (std::size_t j = 0; j < n; ++j) {
      rest -= normal.at(i, j) * step[j];
    }
    right.push_back(rest);
    for (const std::size_t j : free) {
      matrix.push_back(normal.at(i, j));
    }
  }
  const std::vector<double> solved = solve(std::move(matrix), std::move(right));
  for (std::size_t k = 0; k < free.size(); ++k) {
    step[free[k]] = solved[k];
  }
  return step;
}

/// Half of the sum of squares, without what no step changes.
double objective(const NormalEquations& normal, const std::vector<double>& step) {
  double sum = 0;
  for (std::size_t i = 0; i < normal.unknowns; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < normal.unknowns; ++j) {
      row += normal.at(i, j) * step[j];
    }
    sum += step[i] * (normal.right[i] + row / 2);
  }
  return sum;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

}  // namespace

double robust_scale(std::span<const double> residuals) {
  std::vector<double> sizes;
  sizes.reserve(residuals.size());
  for (const double residual : residuals) {
    sizes.push_back(std::abs(residual));
  }
  std::sort(sizes.begin(), sizes.end());
  return kScaleOfMedian * quantile(sizes, 0.5);
}

double huber_limit(double scale) {
  return kHuber * scale;
}

double huber_loss(std::span<const double> residuals, double limit) {
  double sum = 0;
  for (const double residual : residuals) {
    const double size = std::abs(residual);
    sum += size <= limit ? size * size / 2 : limit * (size - limit / 2);
  }
  return sum;
}

std::vector<bool> determined_unknowns(const LinearResiduals& problem, double least) {
  std::vector<bool> determined;
  std::vector<std::vector<double>> directions;  // at right angles to each other, of length 1
  for (std::size_t unknown = 0; unknown < problem.unknowns; ++unknown) {
    std::vector<double> column;
    double largest = 0;
    for (std::size_t row = 0; row < problem.residuals.size(); ++row) {
      column.push_back(problem.derivative(row, unknown));
      largest = std::max(largest, std::abs(column.back()));
    }
    const double whole = portable_sqrt(dot(column, column));
    for (const std::vector<double>& direction : directions) {
      const double share = dot(column, direction);
      for (std::size_t row = 0; row < column.size(); ++row) {
        column[row] -= share * direction[row];
      }
    }
    const double own = portable_sqrt(dot(column, column));
    determined.push_back(largest >= least && own >= kOwnDirection * whole && own > 0);
    if (determined.back()) {
      for (double& each : column) {
        each /= own;
      }
      directions.push_back(std::move(column));
    }
  }
  return determined;
}

std::vector<double> bounded_step(const LinearResiduals& problem, std::span<const double> weights,
                                 std::span<const double> lowest) {
  constexpr std::size_t kMostUnknowns = 8;
  INFEROMETER_CHECK(problem.unknowns <= kMostUnknowns, "all choices of bounds are tried");
  const NormalEquations normal = normal_equations(problem, weights);
  std::vector<double> best(problem.unknowns);
  double least = objective(normal, best);
  for (std::size_t bound = 0; bound < std::size_t{1} << problem.unknowns; ++bound) {
    const std::vector<double> step = step_on_face(normal, bound, lowest);
    bool is_allowed = true;
    for (std::size_t i = 0; i < step.size(); ++i) {
      is_allowed = is_allowed && step[i] >= lowest[i];
    }
    const double value = is_allowed ? objective(normal, step) : least;
    if (value < least) {
      best = step;
      least = value;
    }
  }
  return best;
}

std::vector<double> huber_step(const LinearResiduals& problem, std::span<const double> counts, double limit,
                               std::span<const double> lowest) {
  std::vector<double> step(problem.unknowns);
  std::vector<double> weights(problem.residuals.size());
  for (int round = 0; round < kMostReweightings; ++round) {
    for (std::size_t row = 0; row < weights.size(); ++row) {
      double residual = problem.residuals[row];
      for (std::size_t i = 0; i < problem.unknowns; ++i) {
        residual += problem.derivative(row, i) * step[i];
      }
      const double size = std::abs(residual);
      weights[row] = counts[row] * (size <= limit ? 1 : limit / size);
    }
    const std::vector<double> next = bounded_step(problem, weights, lowest);
    double moved = 0;
    for (std::size_t i = 0; i < step.size(); ++i) {
      moved = std::max(moved, std::abs(next[i] - step[i]));
    }
    step = next;
    if (moved <= kStandsStill) {
      break;
    }
  }
  return step;
}

}  // namespace inferometer
