#pragma once

// Fits a correction as the mean of two: trees alone, and trees over a straight trend. Where few shapes were
// measured they err differently on others, and their mean errs less than either: by cross-validation over
// whole models of experts, 0.3 to 0.9 points of 6.6. Who uses it: the fit of experts.

#include <span>
#include <vector>

#include "calibration/fit/boosted_trees.hpp"

namespace inferometer {

struct TrendAndTrees {
  RegressionTrees trees;
  std::vector<double> slopes;  ///< of linear_trend() over the edges of the trees
};

/// Columns of features and targets as for grow_trees(); `options` of each of the two.
TrendAndTrees fit_trend_and_trees(const std::vector<std::vector<double>>& features,
                                  std::span<const double> targets, const BoostingOptions& options);

}  // namespace inferometer
