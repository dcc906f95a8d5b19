// Trees grown over functions that are known.

#include "calibration/fit/boosted_trees.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

using Columns = std::vector<std::vector<double>>;

/// One tree of its own value: no shrinking.
constexpr BoostingOptions kOneTree{.trees = 1, .leaves = 31, .learning_rate = 1, .points_a_leaf = 1};

std::vector<double> row(const Columns& columns, std::size_t point) {
  std::vector<double> values;
  for (const std::vector<double>& column : columns) {
    values.push_back(column[point]);
  }
  return values;
}

double mean_error(const RegressionTrees& trees, const Columns& columns, const std::vector<double>& targets) {
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    sum += std::abs(trees.value(row(columns, i)) - targets[i]);
  }
  return sum / static_cast<double>(targets.size());
}

/// Points over two features whose target is smooth in one, steps in the other, and scatters.
struct Sample {
  Columns columns{{}, {}};
  std::vector<double> targets;
};

Sample scattered_sample(int points) {
  testing::Dice dice(1, "boosted_trees");
  Sample sample;
  for (int i = 0; i < points; ++i) {
    const double x = static_cast<double>(dice.between(0, 999)) / 100;
    const double y = static_cast<double>(dice.between(0, 7));
    sample.columns[0].push_back(x);
    sample.columns[1].push_back(y);
    sample.targets.push_back(std::sin(x) + (y > 3 ? 0.5 : 0) +
                             static_cast<double>(dice.between(-100, 100)) / 1000);
  }
  return sample;
}

TEST_CASE("a step function of one feature is found exactly, also where no point lies") {
  Columns columns{{}};
  std::vector<double> targets;
  for (int i = 0; i < 100; ++i) {
    columns[0].push_back(i);
    targets.push_back(i < 30 ? -0.25 : i < 70 ? 0.5 : 0.125);
  }
  // Each tree takes the sign of what is left to the median of its part: a handful find all steps.
  const RegressionTrees trees =
      grow_trees(columns, targets, {.trees = 5, .leaves = 31, .learning_rate = 1, .points_a_leaf = 1});
  CHECK(mean_error(trees, columns, targets) < 1e-12);
  CHECK(trees.value(std::vector<double>{-1e6}) == Approx(-0.25));
  CHECK(trees.value(std::vector<double>{1e6}) == Approx(0.125));
  // Between the points of a step nothing changes; between steps the cut lies between its points.
  CHECK(trees.value(std::vector<double>{29}) == Approx(-0.25));
  CHECK(trees.value(std::vector<double>{30}) == Approx(0.5));
  CHECK(trees.value(std::vector<double>{45.7}) == Approx(0.5));
}

TEST_CASE("a step in both of two features is found, and a third feature that says nothing is not cut") {
  Columns columns{{}, {}, {}};
  std::vector<double> targets;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 20; ++j) {
      columns[0].push_back(i);
      columns[1].push_back(j);
      columns[2].push_back(3);
      targets.push_back(i >= 7 && j >= 12 ? 1 : 0);
    }
  }
  const RegressionTrees trees =
      grow_trees(columns, targets, {.trees = 3, .leaves = 4, .learning_rate = 1, .points_a_leaf = 1});
  CHECK(mean_error(trees, columns, targets) < 1e-12);
  CHECK(trees.edges()[2].empty());
}

TEST_CASE("the same points give the same trees") {
  const Sample sample = scattered_sample(500);
  const RegressionTrees one = grow_trees(sample.columns, sample.targets, {});
  const RegressionTrees two = grow_trees(sample.columns, sample.targets, {});
  CHECK(one.codes() == two.codes());
  CHECK(one.edges() == two.edges());
  CHECK(one.tree_count() == 301);  // the median of all, then 300
}

/// Features that a tree cuts, of each tree that cuts any.
std::vector<std::set<int>> features_cut(const RegressionTrees& trees) {
  std::vector<std::set<int>> cut;
  int open = 0;  // nodes of the tree still to come
  for (const int code : trees.codes()) {
    const bool is_cut = code >= 0;
    if (open == 0) {
      open = 1;
      if (is_cut) {
        cut.emplace_back();
      }
    }
    open += is_cut ? 1 : -1;
    if (is_cut) {
      cut.back().insert(code / 256);
    }
  }
  return cut;
}

TEST_CASE("a tree that may cut a share of the features cuts no others, and another tree may") {
  Columns columns(8);
  std::vector<double> targets;
  testing::Dice dice(3, "boosted_trees/features");
  for (int i = 0; i < 400; ++i) {
    double sum = 0;
    for (std::vector<double>& column : columns) {
      column.push_back(static_cast<double>(dice.between(0, 99)));
      sum += column.back() > 49 ? 0.5 : 0;
    }
    targets.push_back(sum);
  }
  BoostingOptions options{.trees = 100, .leaves = 31, .learning_rate = 0.1, .points_a_leaf = 1};
  double all_features = 0, quarter = 0, trees = 0;
  for (const std::set<int>& cut : features_cut(grow_trees(columns, targets, options))) {
    all_features += static_cast<double>(cut.size());
    ++trees;
  }
  CHECK(all_features / trees > 6);  // 30 cuts among eight features that all matter
  options.features_a_tree = 0.25;
  std::set<int> ever;
  trees = 0;
  const RegressionTrees few = grow_trees(columns, targets, options);
  for (const std::set<int>& cut : features_cut(few)) {
    quarter += static_cast<double>(cut.size());
    ever.insert(cut.begin(), cut.end());
    ++trees;
  }
  // Two of eight on average, 2.2 in trees that have one at all.
  CHECK(quarter / trees == Approx(2.2).margin(0.5));
  CHECK(ever.size() == 8);
  CHECK(mean_error(few, columns, targets) < 0.3);
  CHECK(grow_trees(columns, targets, options).codes() == few.codes());
}

TEST_CASE("without cuts the value is the median, whatever the outliers") {
  const Columns columns{std::vector<double>(9, 1)};
  const std::vector<double> targets{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 5, 6};
  CHECK(grow_trees(columns, targets, kOneTree).value(std::vector<double>{1}) == Approx(0.5));
}

TEST_CASE("a leaf is the median of its points and not their mean") {
  // Two halves of eleven points, four of each far off: means are 0.9 and 1.7, medians 0 and 1.
  Columns columns{{}};
  std::vector<double> targets;
  for (int i = 0; i < 22; ++i) {
    columns[0].push_back(i < 11 ? 0 : 1);
    targets.push_back((i < 11 ? 0 : 1) + (i % 11 < 4 ? 2.5 : 0));
  }
  const RegressionTrees trees =
      grow_trees(columns, targets, {.trees = 20, .leaves = 2, .learning_rate = 1, .points_a_leaf = 1});
  CHECK(trees.value(std::vector<double>{0}) == Approx(0).margin(1e-9));
  CHECK(trees.value(std::vector<double>{1}) == Approx(1));
}

TEST_CASE("more leaves or more trees are never worse on the points themselves") {
  const Sample sample = scattered_sample(600);
  double last = mean_error(RegressionTrees(), sample.columns, sample.targets);
  for (const int leaves : {2, 4, 8, 16, 64}) {
    const double error =
        mean_error(grow_trees(sample.columns, sample.targets,
                              {.trees = 40, .leaves = leaves, .learning_rate = 0.2, .points_a_leaf = 1}),
                   sample.columns, sample.targets);
    INFO(leaves << " leaves");
    CHECK(error <= last);
    last = error;
  }
  last = 1e9;
  for (const int trees : {0, 1, 5, 25, 125}) {
    const double error =
        mean_error(grow_trees(sample.columns, sample.targets,
                              {.trees = trees, .leaves = 8, .learning_rate = 0.2, .points_a_leaf = 5}),
                   sample.columns, sample.targets);
    INFO(trees << " trees");
    CHECK(error <= last);
    last = error;
  }
}

/// How many of the points share each value of a tree.
std::vector<std::int64_t> points_by_value(const RegressionTrees& trees, const Columns& columns) {
  std::vector<double> values;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    values.push_back(trees.value(row(columns, i)));
  }
  std::vector<std::int64_t> counts;
  for (const double value : std::set<double>(values.begin(), values.end())) {
    counts.push_back(std::count(values.begin(), values.end(), value));
  }
  return counts;
}

TEST_CASE("no leaf has fewer points than asked for, and no tree more leaves") {
  Columns columns{{}};
  std::vector<double> targets;
  for (int i = 0; i < 100; ++i) {
    columns[0].push_back(i);
    targets.push_back(0.001 * i * i);  // all different: leaves have values of their own
  }
  for (const int fewest : {1, 7, 30, 50, 51}) {
    const std::vector<std::int64_t> counts = points_by_value(
        grow_trees(columns, targets, {.trees = 1, .leaves = 31, .learning_rate = 1, .points_a_leaf = fewest}),
        columns);
    INFO(fewest);
    CHECK(*std::min_element(counts.begin(), counts.end()) >= fewest);
    CHECK((fewest <= 50 ? counts.size() > 1 : counts.size() == 1));
  }
  const RegressionTrees few =
      grow_trees(columns, targets, {.trees = 10, .leaves = 3, .learning_rate = 1, .points_a_leaf = 1});
  std::int64_t leaves = 0;
  for (const int code : few.codes()) {
    leaves += code < 0 ? 1 : 0;
  }
  CHECK(leaves <= 1 + 10 * 3);
}

TEST_CASE("cuts are short numbers between the points") {
  const Columns columns{{1.23456789, 1.23456789, 7.654321, 7.654321}};
  const RegressionTrees trees = grow_trees(columns, std::vector<double>{0, 0, 1, 1},
                                           {.trees = 2, .leaves = 2, .learning_rate = 1, .points_a_leaf = 1});
  // The middle is 4.444...
  CHECK(trees.edges() == Columns{{4}});
}

TEST_CASE("a cut may be the value of a point, which it sends to the left") {
  // The shortest number from 3 to below 3.4 that is near 3.2 is 3.
  const Columns columns{{3, 3, 3.4, 3.4}};
  const std::vector<double> targets{0, 0, 1, 1};
  const RegressionTrees trees =
      grow_trees(columns, targets, {.trees = 2, .leaves = 2, .learning_rate = 1, .points_a_leaf = 1});
  CHECK(trees.edges() == Columns{{3}});
  CHECK(mean_error(trees, columns, targets) < 1e-12);
}

TEST_CASE("a feature of more values than a tree can tell apart is cut between groups of points") {
  Columns columns{{}};
  std::vector<double> targets;
  for (int i = 0; i < 2'560; ++i) {
    columns[0].push_back(i);
    targets.push_back(i < 1'280 ? 0 : 1);
  }
  const RegressionTrees trees = grow_trees(columns, targets, kOneTree);
  CHECK(trees.edges()[0].size() == RegressionTrees::kMostEdges);  // groups of ten
  CHECK(trees.edges()[0][0] >= 9);
  CHECK(trees.edges()[0][0] < 10);
  const RegressionTrees more =
      grow_trees(columns, targets, {.trees = 3, .leaves = 2, .learning_rate = 1, .points_a_leaf = 1});
  CHECK(mean_error(more, columns, targets) < 1e-12);
}

TEST_CASE("one point is learned") {
  CHECK(grow_trees({{3}}, std::vector<double>{0.75}, {}).value(std::vector<double>{99}) == Approx(0.75));
}

}  // namespace
}  // namespace inferometer
