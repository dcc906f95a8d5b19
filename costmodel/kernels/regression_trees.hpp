#pragma once

// A sum of small regression trees over a few features: a function that is flat within boxes and may jump
// between them, as the time of a library's kernels does where it changes tile or kernel. Who uses it: fitted
// corrections. How they are grown: calibration/fit/boosted_trees.hpp.

#include <cstdint>
#include <span>
#include <vector>

namespace inferometer {

class RegressionTrees {
 public:
  /// Leaves are whole multiples of this, so that a sum of them is the same in any order.
  static constexpr double kUnit = 1e-4;
  /// Most places at which a feature may be cut.
  static constexpr std::size_t kMostEdges = 255;
  static constexpr std::size_t kMostFeatures = 32;
  /// No sum of leaves is larger, whatever the features: e to it is still a number.
  static constexpr double kMostValue = 100;

  /// The value 0 everywhere.
  RegressionTrees() = default;

  /// `edges`: for each feature, ascending, where trees may cut it. `codes`: the trees one after the other,
  /// nodes in preorder. A cut is feature * 256 + edge, both from 0, and goes left where the feature is below
  /// or at the edge; a leaf of value v units is -1 - 2 v, or 2 v where v < 0.
  /// Throws ConfigError("...") without a place when the codes are no trees, name no feature or edge, or may
  /// sum to more than kMostValue.
  RegressionTrees(std::vector<std::vector<double>> edges, std::vector<int> codes);

  /// Sum of the leaves that `features` (one value for each) fall into. O(trees x depth).
  [[nodiscard]] double value(std::span<const double> features) const;

  [[nodiscard]] const std::vector<std::vector<double>>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<int>& codes() const { return codes_; }
  [[nodiscard]] std::size_t tree_count() const { return roots_.size(); }

  static int leaf_code(std::int64_t units);

 private:
  // `next`: of a cut the index of its right child, of a leaf its units. The left child follows its parent.
  struct Node {
    std::uint8_t feature;
    std::uint8_t edge;
    bool is_leaf;
    std::int32_t next;
  };
  std::size_t read_tree(std::size_t code);
  [[nodiscard]] std::int64_t largest_leaf(std::size_t begin, std::size_t end) const;

  std::vector<std::vector<double>> edges_;
  std::vector<int> codes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
};

}  // namespace inferometer
