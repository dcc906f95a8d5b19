#include "calibration/device/sampled_indices.hpp"

#include <algorithm>
#include <set>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("few outputs are all compared", "[sampled_indices]") {
  CHECK(sampled_indices(1, 32, 5) == std::vector<std::int64_t>{0});
  CHECK(sampled_indices(4, 4, 5) == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("of many the first and the last and distinct ones between are compared", "[sampled_indices]") {
  for (const std::int64_t count : {5, 6, 33, 34, 1000, 1'000'003}) {
    for (const std::int64_t most : {2, 3, 4, 32}) {
      if (count <= most) {
        continue;
      }
      const std::vector<std::int64_t> chosen = sampled_indices(count, most, 9);
      REQUIRE(chosen.size() == static_cast<std::size_t>(most));
      CHECK(chosen.front() == 0);
      CHECK(chosen.back() == count - 1);
      CHECK(std::is_sorted(chosen.begin(), chosen.end()));
      CHECK(std::set<std::int64_t>(chosen.begin(), chosen.end()).size() == chosen.size());
    }
  }
}

TEST_CASE("a single output may be any", "[sampled_indices]") {
  CHECK(sampled_indices(1, 1, 5) == std::vector<std::int64_t>{0});
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::int64_t> chosen = sampled_indices(4, 1, seed);
    REQUIRE(chosen.size() == 1);
    seen.insert(chosen.front());
  }
  CHECK(seen == std::set<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("another seed chooses other outputs", "[sampled_indices]") {
  CHECK(sampled_indices(1'000'000, 32, 1) == sampled_indices(1'000'000, 32, 1));
  CHECK(sampled_indices(1'000'000, 32, 1) != sampled_indices(1'000'000, 32, 2));
}

TEST_CASE("fewer outputs are compared where each takes long", "[sampled_indices]") {
  CHECK(outputs_to_compare(1) == kMostOutputs);
  CHECK(outputs_to_compare(kMostRecomputedElements / kMostOutputs) == kMostOutputs);
  CHECK(outputs_to_compare(kMostRecomputedElements / 10.5) == 10);
  CHECK(outputs_to_compare(1e12) == kFewestOutputs);
}

}  // namespace
}  // namespace inferometer
