#include "calibration/fit/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/check.hpp"
#include "base/random.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kBins = RegressionTrees::kMostEdges + 1;

/// A number with few digits in [low, high): profiles are read by people, too, and sent around.
double short_number_between(double low, double high) {
  const double middle = (low + high) / 2;
  for (double scale = 1; scale <= 1e9; scale *= 10) {
    const double rounded = std::round(middle * scale) / scale;
    if (rounded >= low && rounded < high) {
      return rounded;
    }
  }
  return low;
}

/// Cuts between neighbouring values; when there are too many, between groups of about as many points.
std::vector<double> cuts_between(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<double> cuts;
  if (distinct.size() <= kBins) {
    for (std::size_t i = 1; i < distinct.size(); ++i) {
      cuts.push_back(short_number_between(distinct[i - 1], distinct[i]));
    }
    return cuts;
  }
  for (std::size_t i = 1; i < kBins; ++i) {
    const std::size_t at = i * values.size() / kBins;
    if (values[at - 1] < values[at]) {
      cuts.push_back(short_number_between(values[at - 1], values[at]));
    }
  }
  return cuts;
}

struct Bin {
  std::int32_t slope = 0;  // sum over points of the sign of what is left to explain
  std::int32_t points = 0;
};

/// Points and slopes of a node by feature and bin.
using Histogram = std::vector<std::array<Bin, kBins>>;

struct Cut {
  double gain = 0;
  std::size_t feature = 0;
  std::size_t edge = 0;
};

struct Node {
  std::size_t begin = 0, end = 0;  // its points, as a range of the order
  Cut best{};
  int left = -1, right = -1;  // children; -1: a leaf
  Histogram histogram{};
};

class TreeGrower {
 public:
  TreeGrower(const std::vector<std::vector<double>>& features, std::span<const double> targets,
             const BoostingOptions& options)
      : options_(options),
        left_(targets.begin(), targets.end()),
        order_(targets.size()),
        slope_(targets.size()),
        may_cut_(features.size(), true) {
    for (const std::vector<double>& column : features) {
      edges_.push_back(cuts_between(column));
      std::vector<std::uint8_t>& bins = bins_.emplace_back();
      for (const double value : column) {
        const auto above = std::lower_bound(edges_.back().begin(), edges_.back().end(), value);
        bins.push_back(static_cast<std::uint8_t>(above - edges_.back().begin()));
      }
    }
  }

  RegressionTrees grow() {
    std::vector<double> all = left_;
    add_leaf(median(all), 0, left_.size(), true);
    for (int tree = 0; tree < options_.trees; ++tree) {
      grow_tree();
    }
    return {edges_, codes_};
  }

 private:
  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  /// A leaf of that value for the points of a range of the order (or for all points as they are).
  void add_leaf(double value, std::size_t begin, std::size_t end, bool unordered) {
    const auto units = static_cast<std::int64_t>(std::llround(value / RegressionTrees::kUnit));
    codes_.push_back(RegressionTrees::leaf_code(units));
    for (std::size_t i = begin; i < end; ++i) {
      left_[unordered ? i : order_[i]] -= static_cast<double>(units) * RegressionTrees::kUnit;
    }
  }

  [[nodiscard]] Histogram count(std::size_t begin, std::size_t end) const {
    Histogram histogram(bins_.size());
    for (std::size_t f = 0; f < bins_.size(); ++f) {
      std::array<Bin, kBins>& column = histogram[f];
      for (std::size_t i = begin; i < end; ++i) {
        Bin& bin = column[bins_[f][order_[i]]];
        bin.slope += slope_[order_[i]];
        ++bin.points;
      }
    }
    return histogram;
  }

  /// The cut that lowers the sum of squares of the slopes most.
  [[nodiscard]] Cut best_cut(const Node& node) const {
    const auto points = static_cast<double>(node.end - node.begin);
    double slope = 0;
    for (const Bin& bin : node.histogram[0]) {
      slope += bin.slope;
    }
    Cut best;
    for (std::size_t f = 0; f < edges_.size(); ++f) {
      if (!may_cut_[f]) {
        continue;
      }
      double left_slope = 0, left_points = 0;
      for (std::size_t edge = 0; edge < edges_[f].size(); ++edge) {
        left_slope += node.histogram[f][edge].slope;
        left_points += node.histogram[f][edge].points;
        const double right_points = points - left_points;
        if (left_points < options_.points_a_leaf || right_points < options_.points_a_leaf) {
          continue;
        }
        const double right_slope = slope - left_slope;
        const double gain = left_slope * left_slope / left_points + right_slope * right_slope / right_points -
                            slope * slope / points;
        if (gain > best.gain + 1e-9) {
          best = {gain, f, edge};
        }
      }
    }
    return best;
  }

  void split(std::vector<Node>& nodes, std::size_t at) {
    const Cut cut = nodes[at].best;
    const std::vector<std::uint8_t>& bins = bins_[cut.feature];
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(nodes[at].begin);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(nodes[at].end);
    const auto middle =
        std::stable_partition(begin, end, [&](std::uint32_t point) { return bins[point] <= cut.edge; });
    Node left{nodes[at].begin, static_cast<std::size_t>(middle - order_.begin())};
    Node right{left.end, nodes[at].end};
    Node& smaller = left.end - left.begin <= right.end - right.begin ? left : right;
    Node& larger = &smaller == &left ? right : left;
    smaller.histogram = count(smaller.begin, smaller.end);
    larger.histogram = std::move(nodes[at].histogram);
    for (std::size_t f = 0; f < edges_.size(); ++f) {
      for (std::size_t b = 0; b < kBins; ++b) {
        larger.histogram[f][b].slope -= smaller.histogram[f][b].slope;
        larger.histogram[f][b].points -= smaller.histogram[f][b].points;
      }
    }
    left.best = best_cut(left);
    right.best = best_cut(right);
    nodes[at].left = static_cast<int>(nodes.size());
    nodes[at].right = static_cast<int>(nodes.size() + 1);
    nodes.push_back(std::move(left));
    nodes.push_back(std::move(right));
  }

  /// Each feature with the same chance; all where all may cut.
  void draw_features() {
    if (options_.features_a_tree >= 1) {
      return;
    }
    for (std::size_t f = 0; f < may_cut_.size(); ++f) {
      may_cut_[f] = random_.uniform() < options_.features_a_tree;
    }
  }

  void grow_tree() {
    draw_features();
    for (std::size_t i = 0; i < left_.size(); ++i) {
      slope_[i] = static_cast<std::int8_t>((left_[i] > 0) - (left_[i] < 0));
      order_[i] = static_cast<std::uint32_t>(i);
    }
    std::vector<Node> nodes;
    nodes.reserve(2 * static_cast<std::size_t>(options_.leaves));
    nodes.push_back({0, left_.size()});
    nodes[0].histogram = count(0, left_.size());
    nodes[0].best = best_cut(nodes[0]);
    for (int leaves = 1; leaves < options_.leaves; ++leaves) {
      std::size_t best = 0;
      double gain = 0;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].left < 0 && nodes[i].best.gain > gain) {
          best = i;
          gain = nodes[i].best.gain;
        }
      }
      if (gain <= 0) {
        break;
      }
      split(nodes, best);
    }
    write(nodes, 0);
  }

  /// Codes of a subtree in preorder; its leaves take the median of what is left of their points.
  void write(const std::vector<Node>& nodes, std::size_t at) {
    const Node& node = nodes[at];
    if (node.left >= 0) {
      codes_.push_back(static_cast<int>(node.best.feature * kBins + node.best.edge));
      write(nodes, static_cast<std::size_t>(node.left));
      write(nodes, static_cast<std::size_t>(node.right));
      return;
    }
    std::vector<double> rest;
    for (std::size_t i = node.begin; i < node.end; ++i) {
      rest.push_back(left_[order_[i]]);
    }
    add_leaf(options_.learning_rate * median(rest), node.begin, node.end, false);
  }

  BoostingOptions options_;
  std::vector<double> left_;  // what the trees so far leave to explain
  std::vector<std::uint32_t> order_;
  std::vector<std::int8_t> slope_;
  std::vector<std::vector<double>> edges_;
  std::vector<std::vector<std::uint8_t>> bins_;
  std::vector<int> codes_;
  RandomStream random_{0, "calibration/features"};
  std::vector<bool> may_cut_;
};

}  // namespace

RegressionTrees grow_trees(const std::vector<std::vector<double>>& features, std::span<const double> targets,
                           const BoostingOptions& options) {
  INFEROMETER_CHECK(!targets.empty() && !features.empty(), "nothing to fit");
  INFEROMETER_CHECK(features.size() <= RegressionTrees::kMostFeatures, "too many features");
  return TreeGrower(features, targets, options).grow();
}

}  // namespace inferometer
