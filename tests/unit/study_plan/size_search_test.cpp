// The smallest size that meets, found by asking about few of them. Expected values are the thresholds that
// the made-up outcomes have.

#include "sim/study/plan/size_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

std::vector<std::int64_t> one_to(std::int64_t most) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(most));
  std::iota(units.begin(), units.end(), 1);
  return units;
}

struct Asked {
  std::optional<SizeAnswer> answer;
  std::set<std::int64_t> units;
};

/// Of a deployment that meets from `threshold` units on and is loaded to `load_of_one` with one.
Asked search(const std::vector<std::int64_t>& units, bool ceiling_first, std::int64_t threshold,
             std::optional<double> load_of_one = std::nullopt) {
  Asked asked;
  asked.answer = find_smallest(units, ceiling_first, [&](std::int64_t each) -> std::optional<Probe> {
    asked.units.insert(each);
    const auto load = load_of_one ? std::optional(*load_of_one / static_cast<double>(each)) : std::nullopt;
    return Probe{each >= threshold, load};
  });
  return asked;
}

TEST_CASE("The smallest size that meets is found for every threshold, from either end") {
  const std::vector<std::int64_t> uneven = {1, 2, 3, 5, 8, 16, 32, 33, 64};
  for (const std::vector<std::int64_t>& units : {one_to(1), one_to(2), one_to(7), one_to(64), uneven}) {
    for (std::int64_t threshold = 1; threshold <= units.back() + 1; ++threshold) {
      for (const bool ceiling_first : {false, true}) {
        for (const std::optional<double> load :
             {std::optional<double>(), std::optional(0.1),
              std::optional(0.8 * static_cast<double>(threshold)), std::optional(100.0)}) {
          const auto expected =
              std::find_if(units.begin(), units.end(), [&](std::int64_t each) { return each >= threshold; });
          const Asked asked = search(units, ceiling_first, threshold, load);
          CAPTURE(units, threshold, ceiling_first, load.value_or(-1));
          REQUIRE(asked.answer);
          CHECK(asked.answer->smallest ==
                (expected == units.end() ? std::nullopt : std::optional(*expected)));
        }
      }
    }
  }
}

TEST_CASE("Of 64 sizes few are asked about") {
  // Without a hint: up by doubling, 1 2 4 8 16 32 64, then halving the last gap of 32: at most 7 + 5.
  for (std::int64_t threshold = 1; threshold <= 64; ++threshold) {
    CHECK(search(one_to(64), false, threshold).units.size() <= 12);
  }
  // A load that tells where the limit is: one run that tells it, one there, one or two around it.
  for (std::int64_t threshold = 2; threshold <= 64; ++threshold) {
    const double load = 0.85 * static_cast<double>(threshold);
    CHECK(search(one_to(64), false, threshold, load).units.size() <= 3);
  }
}

TEST_CASE("When the ceiling misses nothing else is asked") {
  CHECK(search(one_to(64), true, 65).units == std::set<std::int64_t>{64});
}

TEST_CASE("Large sizes are asked about only when smaller ones miss") {
  const Asked asked = search(one_to(64), false, 3);
  CHECK(*asked.units.rbegin() <= 4);
}

TEST_CASE("An outcome that is not known yet stops the search of sizes there") {
  int calls = 0;
  const auto answer = find_smallest(one_to(8), false, [&](std::int64_t) -> std::optional<Probe> {
    ++calls;
    return std::nullopt;
  });
  CHECK_FALSE(answer);
  CHECK(calls == 1);
}

}  // namespace
}  // namespace inferometer
