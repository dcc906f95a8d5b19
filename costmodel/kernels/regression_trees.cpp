#include "costmodel/kernels/regression_trees.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr int kEdgesPerFeature = 256;
constexpr int kMostDepth = 64;

[[noreturn]] void refuse(const std::string& why) {
  throw ConfigError(Position{}, "these are no regression trees: " + why);
}

std::int32_t units_of(int leaf_code) {
  return leaf_code % 2 == 0 ? leaf_code / 2 : -(leaf_code + 1) / 2;
}

}  // namespace

int RegressionTrees::leaf_code(std::int64_t units) {
  INFEROMETER_CHECK(units > -1'000'000'000 && units < 1'000'000'000, "a leaf beyond all measure");
  return static_cast<int>(units < 0 ? 2 * units : -1 - 2 * units);
}

RegressionTrees::RegressionTrees(std::vector<std::vector<double>> edges, std::vector<int> codes)
    : edges_(std::move(edges)), codes_(std::move(codes)) {
  if (edges_.size() > kMostFeatures) {
    refuse("more than " + std::to_string(kMostFeatures) + " features");
  }
  for (const std::vector<double>& cuts : edges_) {
    if (cuts.size() > kMostEdges || !std::is_sorted(cuts.begin(), cuts.end())) {
      refuse("edges must ascend, at most " + std::to_string(kMostEdges) + " a feature");
    }
  }
  nodes_.reserve(codes_.size());
  double largest_units = 0;
  for (std::size_t next = 0; next < codes_.size();) {
    const std::size_t root = next;
    roots_.push_back(static_cast<std::uint32_t>(root));
    next = read_tree(root);
    largest_units += static_cast<double>(largest_leaf(root, next));
  }
  if (largest_units * kUnit > kMostValue) {
    refuse("their leaves may sum to more than " + std::to_string(static_cast<int>(kMostValue)));
  }
}

std::int64_t RegressionTrees::largest_leaf(std::size_t begin, std::size_t end) const {
  std::int64_t largest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    largest = nodes_[i].is_leaf ? std::max(largest, std::abs(std::int64_t{nodes_[i].next})) : largest;
  }
  return largest;
}

/// Reads the tree that begins at a code and returns where the next one begins.
std::size_t RegressionTrees::read_tree(std::size_t code) {
  std::vector<std::size_t> open;  // cuts whose right child is still to come
  for (;; ++code) {
    if (code == codes_.size()) {
      refuse("the last tree is cut off");
    }
    const int word = codes_[code];
    if (word >= 0) {
      const auto feature = static_cast<std::size_t>(word / kEdgesPerFeature);
      const auto edge = static_cast<std::size_t>(word % kEdgesPerFeature);
      if (feature >= edges_.size() || edge >= edges_[feature].size()) {
        refuse("code " + std::to_string(word) + " cuts at an edge that is not there");
      }
      if (open.size() == kMostDepth) {
        refuse("a tree is more than " + std::to_string(kMostDepth) + " deep");
      }
      open.push_back(nodes_.size());
      nodes_.push_back({static_cast<std::uint8_t>(feature), static_cast<std::uint8_t>(edge), false, 0});
      continue;
    }
    nodes_.push_back({0, 0, true, units_of(word)});
    if (open.empty()) {
      return code + 1;
    }
    nodes_[open.back()].next = static_cast<std::int32_t>(nodes_.size());
    open.pop_back();
  }
}

double RegressionTrees::value(std::span<const double> features) const {
  INFEROMETER_CHECK(features.size() >= edges_.size(), "one value for each feature");
  // How many edges a feature lies above: then a cut compares two small integers.
  std::array<std::uint8_t, kMostFeatures> above{};
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const std::vector<double>& cuts = edges_[i];
    above[i] =
        static_cast<std::uint8_t>(std::lower_bound(cuts.begin(), cuts.end(), features[i]) - cuts.begin());
  }
  std::int64_t units = 0;
  for (const std::uint32_t root : roots_) {
    std::uint32_t at = root;
    while (!nodes_[at].is_leaf) {
      at =
          above[nodes_[at].feature] <= nodes_[at].edge ? at + 1 : static_cast<std::uint32_t>(nodes_[at].next);
    }
    units += nodes_[at].next;
  }
  return static_cast<double>(units) * kUnit;
}

}  // namespace inferometer
