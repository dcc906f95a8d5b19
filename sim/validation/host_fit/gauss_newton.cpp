#include "sim/validation/host_fit/gauss_newton.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/quantile.hpp"
#include "base/random.hpp"

namespace inferometer {
namespace {

constexpr int kMostSteps = 6, kMostHalvings = 3;
constexpr int kDraws = 500;
constexpr double kLeastEffect = 1e-3;  // of a whole unit on a residual, which is a relative error
constexpr double kSettled = 0.01;

double probe_of(const FitUnknown& unknown, double value) {
  return std::max(unknown.probe, value / 10);
}

LinearResiduals linearised(const std::vector<FitUnknown>& unknowns, const std::vector<double>& values,
                           const ResidualsAt& residuals_at) {
  std::vector<std::vector<double>> points{values};
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    points.push_back(values);
    points.back()[i] += probe_of(unknowns[i], values[i]);
  }
  const std::vector<std::vector<double>> residuals = residuals_at(points);
  LinearResiduals problem{unknowns.size(), residuals.front(), {}};
  for (std::size_t row = 0; row < residuals.front().size(); ++row) {
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
      problem.derivatives.push_back((residuals[i + 1][row] - residuals[0][row]) /
                                    probe_of(unknowns[i], values[i]));
    }
  }
  return problem;
}

/// Without what the residuals do not tell.
void forget_undetermined(LinearResiduals& problem, const std::vector<bool>& is_determined) {
  for (std::size_t k = 0; k < problem.derivatives.size(); ++k) {
    if (!is_determined[k % problem.unknowns]) {
      problem.derivatives[k] = 0;
    }
  }
}

void divide(std::vector<double>& values, const std::vector<double>& scales) {
  const std::size_t columns = scales.empty() ? 1 : values.size() / scales.size();
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] /= scales[k / columns];
  }
}

std::vector<double> lowest_steps(const std::vector<double>& values) {
  std::vector<double> lowest;
  for (const double value : values) {
    lowest.push_back(-value);
  }
  return lowest;
}

/// As far along the step as lowers the loss; the values as they are when nothing does.
struct Landing {
  std::vector<double> values, residuals;
};

Landing land(const std::vector<FitUnknown>& unknowns, const GaussNewtonFit& fit, std::vector<double> step,
             const std::vector<double>& scales, const ResidualsAt& residuals_at) {
  const double limit = huber_limit(1);
  const double loss = huber_loss(fit.at_solution.residuals, limit);
  for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
    std::vector<double> point = fit.values;
    for (std::size_t i = 0; i < point.size(); ++i) {
      point[i] = std::clamp(point[i] + step[i], 0.0, unknowns[i].most);
      step[i] /= 2;
    }
    std::vector<double> residuals = residuals_at({point}).front();
    divide(residuals, scales);
    if (huber_loss(residuals, limit) < loss) {
      return {std::move(point), std::move(residuals)};
    }
  }
  return {fit.values, fit.at_solution.residuals};
}

bool is_settled(const std::vector<double>& from, const std::vector<double>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (std::abs(to[i] - from[i]) > kSettled * std::max(1.0, from[i])) {
      return false;
    }
  }
  return true;
}

/// The scale of the kind of each residual.
std::vector<double> scales_of(const std::vector<double>& residuals,
                              const std::vector<std::size_t>& kind_of_row) {
  std::map<std::size_t, std::vector<double>> kinds;
  for (std::size_t row = 0; row < residuals.size(); ++row) {
    kinds[kind_of_row[row]].push_back(residuals[row]);
  }
  std::map<std::size_t, double> scale;
  for (const auto& [kind, own] : kinds) {
    scale[kind] = std::max(kLeastScale, robust_scale(own));
  }
  std::vector<double> scales;
  for (const std::size_t kind : kind_of_row) {
    scales.push_back(scale[kind]);
  }
  return scales;
}

}  // namespace

GaussNewtonFit fit_gauss_newton(const std::vector<FitUnknown>& unknowns,
                                const std::vector<std::size_t>& kind_of_row,
                                const ResidualsAt& residuals_at) {
  GaussNewtonFit fit;
  for (const FitUnknown& unknown : unknowns) {
    fit.values.push_back(unknown.start);
  }
  std::vector<double> scales;
  while (fit.steps < kMostSteps && !fit.has_settled) {
    fit.at_solution = linearised(unknowns, fit.values, residuals_at);
    fit.is_determined = determined_unknowns(fit.at_solution, kLeastEffect);
    forget_undetermined(fit.at_solution, fit.is_determined);
    scales = scales_of(fit.at_solution.residuals, kind_of_row);
    divide(fit.at_solution.residuals, scales);
    divide(fit.at_solution.derivatives, scales);
    const std::vector<double> once(fit.at_solution.residuals.size(), 1.0);
    const std::vector<double> step =
        huber_step(fit.at_solution, once, huber_limit(1), lowest_steps(fit.values));
    Landing landing = land(unknowns, fit, step, scales, residuals_at);
    fit.has_settled = is_settled(fit.values, landing.values);
    fit.values = std::move(landing.values);
    fit.at_solution.residuals = std::move(landing.residuals);
    ++fit.steps;
  }
  return fit;
}

std::vector<std::pair<double, double>> bootstrap_intervals(const GaussNewtonFit& fit,
                                                           const std::vector<std::size_t>& cluster_of,
                                                           std::size_t clusters) {
  RandomStream stream(1, "host_fit/bootstrap");
  const std::vector<double> lowest = lowest_steps(fit.values);
  std::vector<std::vector<double>> draws(fit.values.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> times(clusters);
    for (std::size_t i = 0; i < clusters; ++i) {
      ++times[stream.below(clusters)];
    }
    std::vector<double> counts;
    counts.reserve(cluster_of.size());
    for (const std::size_t cluster : cluster_of) {
      counts.push_back(times[cluster]);
    }
    const std::vector<double> step = huber_step(fit.at_solution, counts, huber_limit(1), lowest);
    for (std::size_t i = 0; i < step.size(); ++i) {
      draws[i].push_back(fit.values[i] + step[i]);
    }
  }
  std::vector<std::pair<double, double>> intervals;
  for (std::vector<double>& values : draws) {
    std::sort(values.begin(), values.end());
    intervals.emplace_back(quantile(values, 0.05), quantile(values, 0.95));
  }
  return intervals;
}

}  // namespace inferometer
