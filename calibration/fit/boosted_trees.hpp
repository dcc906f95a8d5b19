#pragma once

// Grows regression trees by gradient boosting for the least absolute error (Friedman, "Greedy function
// approximation: a gradient boosting machine", Annals of Statistics 29(5), 2001: LAD_TreeBoost), with
// features put into bins and trees grown leaf by leaf, as LightGBM does it (Ke et al., NeurIPS 2017). Who
// uses it: the fit of a profile. Deterministic: whole numbers only decide between cuts, ties go to the first,
// draws have a fixed seed.

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/kernels/regression_trees.hpp"

namespace inferometer {

struct BoostingOptions {
  int trees = 300;
  int leaves = 31;  ///< most leaves of a tree
  double learning_rate = 0.12;
  int points_a_leaf = 5;       ///< fewest
  double features_a_tree = 1;  ///< share of the features, drawn for each tree, that it may cut
};

/// Fits `targets` by trees over `features`, a column each, of as many values. Precondition: at least one
/// point, at most RegressionTrees::kMostFeatures columns, no NaN.
/// O(trees x log(leaves) x points x features).
RegressionTrees grow_trees(const std::vector<std::vector<double>>& features, std::span<const double> targets,
                           const BoostingOptions& options);

}  // namespace inferometer
