// The highest rate that meets, against thresholds that made-up outcomes have.

#include "sim/study/plan/rate_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

struct RatesAsked {
  std::optional<RateAnswer> answer;
  std::vector<double> factors;
};

/// Of a deployment that meets up to `threshold` and is at its capacity at `capacity`.
RatesAsked search_rates(double tolerance, double threshold, std::optional<double> capacity) {
  RatesAsked asked;
  asked.answer = find_highest_rate(tolerance, [&](double factor) -> std::optional<Probe> {
    asked.factors.push_back(factor);
    return Probe{factor <= threshold, capacity ? std::optional(factor / *capacity) : std::nullopt};
  });
  return asked;
}

TEST_CASE("The threshold lies in the answer and the answer is as narrow as asked for") {
  for (const double tolerance : {0.001, 0.02, 0.1, 0.5}) {
    for (double threshold = 0.0021; threshold < 900; threshold *= 1.37) {
      for (const double capacity_over_threshold : {0.0, 0.3, 0.95, 1.0, 1.1, 1.5, 40.0}) {
        const std::optional<double> capacity =
            capacity_over_threshold > 0 ? std::optional(threshold * capacity_over_threshold) : std::nullopt;
        const RatesAsked asked = search_rates(tolerance, threshold, capacity);
        CAPTURE(tolerance, threshold, capacity_over_threshold, asked.factors);
        REQUIRE(asked.answer);
        CHECK(asked.answer->low <= threshold);
        CHECK(asked.answer->high > threshold);
        CHECK(asked.answer->high <= asked.answer->low * (1 + tolerance));
        CHECK(asked.factors.size() <= 32);
      }
    }
  }
}

TEST_CASE("With a capacity a little above the limit seven runs are enough for two per cent") {
  // 1, 0.9 of the capacity, 1.05 of it: a bracket of 1.17, whose ratio is halved three times to 1.02.
  for (const double threshold : {0.31, 1.9, 7.7}) {
    CHECK(search_rates(0.02, threshold, threshold * 1.03).factors.size() <= 7);
  }
}

TEST_CASE("The first rate asked about is the traffic itself") {
  CHECK(search_rates(0.02, 3, std::optional<double>()).factors.front() == 1);
}

TEST_CASE("No rate is asked about twice") {
  for (double threshold = 0.01; threshold < 100; threshold *= 1.7) {
    std::vector<double> factors = search_rates(0.001, threshold, threshold * 1.2).factors;
    std::sort(factors.begin(), factors.end());
    CHECK(std::adjacent_find(factors.begin(), factors.end()) == factors.end());
  }
}

TEST_CASE("Where no rate meets or every rate does the search ends") {
  const RatesAsked none = search_rates(0.02, 0, std::optional<double>());
  CHECK(none.answer->low == 0);
  CHECK(none.answer->high <= kSmallestRateFactor);
  const RatesAsked all = search_rates(0.02, 1e9, std::optional<double>());
  CHECK(all.answer->low >= kLargestRateFactor);
  CHECK(all.answer->high == std::numeric_limits<double>::infinity());
}

TEST_CASE("One misleading outcome near the limit moves the answer by no more than where it was") {
  // All outcomes within 3 % of the limit are dice: the answer stays within that distance.
  testing::Dice dice(7, "rates");
  for (int round = 0; round < 200; ++round) {
    const auto answer = find_highest_rate(0.01, [&](double factor) -> std::optional<Probe> {
      const bool is_near = std::abs(factor / 2.5 - 1) < 0.03;
      return Probe{is_near ? dice.chance(50) : factor <= 2.5, factor / 2.8};
    });
    CHECK(answer->low > 2.5 * 0.97 / 1.01);
    CHECK(answer->high < 2.5 * 1.03 * 1.01);
  }
}

}  // namespace
}  // namespace inferometer
