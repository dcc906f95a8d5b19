// Trees worked by hand, and codes that are none.

#include "costmodel/kernels/regression_trees.hpp"

#include <limits>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

using Edges = std::vector<std::vector<double>>;

int leaf(std::int64_t units) {
  return RegressionTrees::leaf_code(units);
}
int cut(int feature, int edge) {
  return 256 * feature + edge;
}

std::string complaint_about(const Edges& edges, const std::vector<int>& codes) {
  try {
    const RegressionTrees trees(edges, codes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("no trees are 0 everywhere") {
  CHECK(RegressionTrees().value({}) == 0);
  CHECK(RegressionTrees().tree_count() == 0);
  CHECK(RegressionTrees({{1, 2}}, {}).value(std::vector<double>{5}) == 0);
}

TEST_CASE("leaves are whole numbers of either sign, as codes below zero") {
  CHECK(leaf(0) == -1);
  CHECK(leaf(1) == -3);
  CHECK(leaf(-1) == -2);
  CHECK(leaf(-7) == -14);
  for (const std::int64_t units : {-65'536, -2, -1, 0, 1, 2, 65'535}) {
    CHECK(RegressionTrees({}, {leaf(units)}).value({}) == static_cast<double>(units) * 1e-4);
  }
}

TEST_CASE("a cut goes left below and at its edge") {
  const RegressionTrees stump({{2.5}}, {cut(0, 0), leaf(10'000), leaf(20'000)});
  const auto at = [&](double feature) { return stump.value(std::vector<double>{feature}); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(at(-kInfinity) == 1);
  CHECK(at(2.5) == 1);
  CHECK(at(std::nextafter(2.5, 3)) == 2);
  CHECK(at(kInfinity) == 2);
}

TEST_CASE("the sum of two trees over two features") {
  // The first tree cuts feature 1 at 10, above that feature 0 at 1 and below 1 nothing more; the second cuts
  // feature 0 at 3. Units: 100, 200, 400; 1, 2.
  const RegressionTrees trees({{1, 3}, {10}}, {cut(1, 0), leaf(100), cut(0, 0), leaf(200), leaf(400),  //
                                               cut(0, 1), leaf(1), leaf(2)});
  CHECK(trees.tree_count() == 2);
  const auto units = [&](double a, double b) {
    return trees.value(std::vector<double>{a, b}) / RegressionTrees::kUnit;
  };
  CHECK(units(0, 9) == Approx(101));
  CHECK(units(3, 10) == Approx(101));
  CHECK(units(4, 10) == Approx(102));
  CHECK(units(1, 11) == Approx(201));
  CHECK(units(2, 11) == Approx(401));
  CHECK(units(4, 11) == Approx(402));
}

TEST_CASE("a left child may be a tree of its own") {
  // Of a line with knots at 1, 2, 3, cut in the middle first.
  const RegressionTrees tree({{1, 2, 3}},
                             {cut(0, 1), cut(0, 0), leaf(1), leaf(2), cut(0, 2), leaf(3), leaf(4)});
  for (const int step : {1, 2, 3, 4}) {
    CHECK(tree.value(std::vector<double>{step - 0.5}) == Approx(step * 1e-4));
  }
}

TEST_CASE("features beyond those that trees know are not looked at") {
  const RegressionTrees stump({{2.5}}, {cut(0, 0), leaf(1), leaf(2)});
  CHECK(stump.value(std::vector<double>{3, 0, 0}) == Approx(2e-4));
}

TEST_CASE("the last of 255 edges of the last of 32 features") {
  Edges edges(RegressionTrees::kMostFeatures);
  for (std::size_t i = 0; i < RegressionTrees::kMostEdges; ++i) {
    edges.back().push_back(static_cast<double>(i));
  }
  const RegressionTrees stump(edges, {cut(31, 254), leaf(1), leaf(2)});
  std::vector<double> features(32, 1e9);
  CHECK(stump.value(features) == Approx(2e-4));
  features.back() = 254;
  CHECK(stump.value(features) == Approx(1e-4));
}

TEST_CASE("codes that are no trees are refused") {
  const Edges edges{{1}, {2, 3}};
  check_says(complaint_about(edges, {cut(0, 0)}), {"no regression trees", "cut off"});
  check_says(complaint_about(edges, {cut(0, 0), leaf(1)}), {"cut off"});
  check_says(complaint_about(edges, {leaf(1), cut(1, 1), leaf(1), cut(0, 0), leaf(1)}), {"cut off"});
  check_says(complaint_about(edges, {cut(0, 1), leaf(1), leaf(2)}), {"code 1 ", "not there"});
  check_says(complaint_about(edges, {cut(1, 2), leaf(1), leaf(2)}), {"code 258 ", "not there"});
  check_says(complaint_about(edges, {cut(2, 0), leaf(1), leaf(2)}), {"code 512 ", "not there"});
  check_says(complaint_about({}, {cut(0, 0), leaf(1), leaf(2)}), {"code 0 ", "not there"});
  CHECK(complaint_about(edges, {cut(1, 1), leaf(1), leaf(2)}).empty());
}

TEST_CASE("edges that do not ascend, or are too many, are refused") {
  check_says(complaint_about({{2, 1}}, {}), {"ascend"});
  check_says(complaint_about({std::vector<double>(256, 1)}, {}), {"255"});
  check_says(complaint_about(Edges(33), {}), {"32 features"});
  CHECK(complaint_about({std::vector<double>(255, 1)}, {}).empty());
}

TEST_CASE("trees whose leaves may sum to more than 100 are refused: e to it is a time no more") {
  const Edges edges{{1}};
  CHECK(complaint_about({}, {leaf(1'000'000)}).empty());
  check_says(complaint_about({}, {leaf(1'000'001)}), {"more than 100"});
  check_says(complaint_about({}, {leaf(-1'000'001)}), {"more than 100"});
  // The largest of each tree, of either sign.
  CHECK(complaint_about(edges, {cut(0, 0), leaf(500'000), leaf(-500'000), leaf(500'000)}).empty());
  check_says(complaint_about(edges, {cut(0, 0), leaf(1), leaf(-500'001), leaf(500'000)}), {"more than 100"});
}

TEST_CASE("a tree deeper than any that is grown is refused, before memory runs out") {
  const auto chain = [](std::size_t depth) {
    std::vector<int> codes(depth, cut(0, 0));
    codes.insert(codes.end(), depth + 1, leaf(0));
    return complaint_about({{1}}, codes);
  };
  CHECK(chain(64).empty());
  check_says(chain(65), {"64 deep"});
}

}  // namespace
}  // namespace inferometer
