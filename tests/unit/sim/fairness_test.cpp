// Jain's index against its formula, worked by hand.

#include "sim/metrics/fairness.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("fairness is one when all have the same latency per token, however long their answers are") {
  FairnessTotals totals;
  CHECK_FALSE(totals.jain_index().has_value());
  totals.add(0, milliseconds(1), milliseconds(30), 3);
  totals.add(0, milliseconds(2), milliseconds(10), 1);
  totals.add(0, milliseconds(3), milliseconds(2000), 200);
  CHECK(totals.jain_index().value() == Approx(1).epsilon(1e-12));
}

TEST_CASE("fairness of 1 and 2 and 3 ms a token is 6 squared over 3 times 14") {
  FairnessTotals totals;
  totals.add(0, milliseconds(1), milliseconds(2), 2);
  totals.add(0, milliseconds(1), milliseconds(2), 1);
  totals.add(0, milliseconds(1), milliseconds(9), 3);
  CHECK(totals.jain_index().value() == Approx(36.0 / 42).epsilon(1e-12));
}

TEST_CASE("fairness comes down to one of n when one request bears nearly all") {
  FairnessTotals totals;
  for (int i = 0; i < 9; ++i) {
    totals.add(0, picoseconds(1), picoseconds(1), 1);
  }
  totals.add(0, seconds(1), seconds(9'000'000), 1);
  CHECK(totals.jain_index().value() == Approx(0.1).epsilon(1e-9));
}

TEST_CASE("latencies are told by priority where there are several") {
  FairnessTotals totals;
  totals.add(2, milliseconds(10), milliseconds(100), 4);
  CHECK(totals.priorities().empty());
  totals.add(-1, milliseconds(1), milliseconds(7), 4);
  totals.add(2, milliseconds(30), milliseconds(300), 4);
  const auto priorities = totals.priorities();
  REQUIRE(priorities.size() == 2);
  CHECK(priorities[0]->priority == -1);
  CHECK(priorities[0]->completed == 1);
  CHECK(priorities[1]->priority == 2);
  CHECK(priorities[1]->completed == 2);
  CHECK(priorities[1]->ttft.statistics(PercentileRule::linear)->mean_ms == Approx(20));
  CHECK(priorities[1]->e2el.statistics(PercentileRule::linear)->max_ms == Approx(300));
}

TEST_CASE("seventeen priorities are too many to be told apart") {
  FairnessTotals totals;
  for (std::int32_t priority = 0; priority < 16; ++priority) {
    totals.add(priority, milliseconds(1), milliseconds(2), 1);
  }
  CHECK(totals.priorities().size() == 16);
  totals.add(16, milliseconds(1), milliseconds(2), 1);
  CHECK(totals.priorities().empty());
  totals.add(3, milliseconds(1), milliseconds(2), 1);
  CHECK(totals.priorities().empty());
  CHECK(totals.jain_index().value() == Approx(1));
}

}  // namespace
}  // namespace inferometer
