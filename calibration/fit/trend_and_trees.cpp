#include "calibration/fit/trend_and_trees.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <utility>

#include "costmodel/kernels/linear_trend.hpp"

namespace inferometer {
namespace {

constexpr double kHalf = 0.5;

/// Slopes of the least squares with a penalty on those of features scaled to variance 1, so that features
/// that say nearly the same share what they say (ridge regression).
std::vector<double> ridge_slopes(const std::vector<std::vector<double>>& features,
                                 std::span<const double> targets) {
  constexpr double kPenalty = 0.04;         // of the number of points; by cross-validation
  constexpr double kLeastDeviation = 1e-9;  // below it a feature is the same everywhere
  constexpr double kDigits = 1e-5;          // profiles are read by people, too
  const auto rows = static_cast<Eigen::Index>(targets.size());
  const auto count = static_cast<Eigen::Index>(features.size());
  Eigen::MatrixXd scaled(rows, count);
  Eigen::VectorXd deviations(count);
  for (Eigen::Index f = 0; f < count; ++f) {
    const std::vector<double>& column = features[static_cast<std::size_t>(f)];
    const Eigen::Map<const Eigen::VectorXd> values(column.data(), rows);
    const Eigen::VectorXd centred = values.array() - values.mean();
    deviations[f] = std::sqrt(centred.squaredNorm() / static_cast<double>(rows));
    scaled.col(f) = deviations[f] > kLeastDeviation ? Eigen::VectorXd(centred / deviations[f])
                                                    : Eigen::VectorXd::Zero(rows);
  }
  const Eigen::Map<const Eigen::VectorXd> values(targets.data(), rows);
  const Eigen::VectorXd centred = values.array() - values.mean();
  Eigen::MatrixXd normal = scaled.transpose() * scaled;
  normal.diagonal().array() += kPenalty * static_cast<double>(rows);
  const Eigen::VectorXd weights = normal.ldlt().solve(scaled.transpose() * centred);
  std::vector<double> slopes;
  for (Eigen::Index f = 0; f < count; ++f) {
    const double slope = deviations[f] > kLeastDeviation ? weights[f] / deviations[f] : 0;
    slopes.push_back(std::round(slope / kDigits) * kDigits);
  }
  return slopes;
}

}  // namespace

TrendAndTrees fit_trend_and_trees(const std::vector<std::vector<double>>& features,
                                  std::span<const double> targets, const BoostingOptions& options) {
  // The mean is a sum of halves: trees grow to half of a target by halves of their leaves.
  std::vector<double> halves;
  for (const double target : targets) {
    halves.push_back(kHalf * target);
  }
  const RegressionTrees alone = grow_trees(features, halves, options);
  TrendAndTrees fit{{}, ridge_slopes(features, halves)};
  std::vector<double> point(features.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      point[f] = features[f][i];
    }
    halves[i] -= linear_trend(fit.slopes, alone.edges(), point);
  }
  const RegressionTrees over_trend = grow_trees(features, halves, options);
  std::vector<int> codes = alone.codes();  // edges go by the features alone: both have the same
  codes.insert(codes.end(), over_trend.codes().begin(), over_trend.codes().end());
  fit.trees = RegressionTrees(alone.edges(), std::move(codes));
  return fit;
}

}  // namespace inferometer
