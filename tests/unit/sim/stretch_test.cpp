#include "sim/replica/stretch.hpp"

#include "base/int128.hpp"
#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kEndOfTime = 9'200'000'000'000'000'000;  // 106 days of picoseconds

StepLine line_of(std::int64_t first_ps, std::int64_t growth_ps, std::int64_t steps = StepLine::kForever) {
  return {StepCost{.compute = Duration(first_ps)}, StepCost{.compute = Duration(growth_ps)}, steps};
}

TimePoint at(std::int64_t ps) {
  return TimePoint(Duration(ps));
}

TEST_CASE("a stretch of 10, 13, 16, 19 picoseconds") {
  const Stretch stretch(at(1000), line_of(10, 3), 4);
  CHECK(stretch.time_at(0).count() == 10);
  CHECK(stretch.time_at(3).count() == 19);
  CHECK(stretch.time_of(0).count() == 0);
  CHECK(stretch.time_of(1).count() == 10);
  CHECK(stretch.time_of(2).count() == 23);
  CHECK(stretch.time_of(3).count() == 39);
  CHECK(stretch.time_of(4).count() == 58);
  CHECK((stretch.end_of(0) == at(1010)));
  CHECK((stretch.end_of(2) == at(1039)));
  CHECK((stretch.end() == at(1058)));
}

TEST_CASE("a time that a step ends at is reached by that step, one picosecond more by the next") {
  const Stretch stretch(at(1000), line_of(10, 3), 4);
  CHECK(stretch.steps_to_last(Duration(0)) == 1);
  CHECK(stretch.steps_to_last(Duration(1)) == 1);
  CHECK(stretch.steps_to_last(Duration(10)) == 1);
  CHECK(stretch.steps_to_last(Duration(11)) == 2);
  CHECK(stretch.steps_to_last(Duration(23)) == 2);
  CHECK(stretch.steps_to_last(Duration(24)) == 3);
  CHECK(stretch.steps_to_last(Duration(39)) == 3);
  CHECK(stretch.steps_to_last(Duration(40)) == 4);
  CHECK(stretch.steps_to_last(Duration(58)) == 4);
}

TEST_CASE("a step that ends at a time has not ended before it") {
  const Stretch stretch(at(1000), line_of(10, 3), 4);
  CHECK(stretch.ended_before(at(1000)) == 0);
  CHECK(stretch.ended_before(at(1010)) == 0);
  CHECK(stretch.ended_before(at(1011)) == 1);
  CHECK(stretch.ended_before(at(1039)) == 2);
  CHECK(stretch.ended_before(at(1040)) == 3);
  CHECK(stretch.ended_before(at(1058)) == 3);
  CHECK(stretch.ended_before(at(1059)) == 4);
  CHECK(stretch.ended_before(at(kEndOfTime)) == 4);
}

TEST_CASE("steps of one length") {
  const Stretch stretch(at(0), line_of(7, 0), 1'000'000);
  CHECK(stretch.steps_to_last(Duration(7)) == 1);
  CHECK(stretch.steps_to_last(Duration(8)) == 2);
  CHECK(stretch.steps_to_last(Duration(14)) == 2);
  CHECK(stretch.steps_to_last(Duration(15)) == 3);
  CHECK(stretch.steps_to_last(Duration(6'999'993)) == 999'999);
  CHECK(stretch.steps_to_last(Duration(6'999'994)) == 1'000'000);
  CHECK(stretch.time().count() == 7'000'000);
}

TEST_CASE("a shortened stretch ends with the step it was shortened to") {
  Stretch stretch(at(1000), line_of(10, 3), 4);
  stretch.shorten_to(2);
  CHECK(stretch.steps() == 2);
  CHECK((stretch.end() == at(1023)));
}

// Steps of 1, 3, 5, ... picoseconds: the first k take k^2.
TEST_CASE("odd numbers up to the end of time") {
  constexpr std::int64_t kSteps = 3'000'000'000;
  const Stretch stretch(at(0), line_of(1, 2), kSteps + 1);
  CHECK(stretch.time_of(kSteps).count() == kSteps * kSteps);
  CHECK(stretch.steps_to_last(Duration(kSteps * kSteps)) == kSteps);
  CHECK(stretch.steps_to_last(Duration(kSteps * kSteps - 1)) == kSteps);
  CHECK(stretch.steps_to_last(Duration(kSteps * kSteps + 1)) == kSteps + 1);
  CHECK(stretch.steps_to_last(Duration((kSteps - 1) * (kSteps - 1))) == kSteps - 1);
  CHECK(stretch.steps_to_last(Duration((kSteps - 1) * (kSteps - 1) + 1)) == kSteps);
  CHECK(stretch.ended_before(at(kSteps * kSteps)) == kSteps - 1);
}

TEST_CASE("steps of a microsecond up to the end of time") {
  constexpr std::int64_t kSteps = kEndOfTime / 1'000'000;
  const Stretch stretch(at(0), line_of(1'000'000, 0), kSteps);
  CHECK((stretch.end() == at(kEndOfTime)));
  CHECK(stretch.steps_to_last(Duration(kEndOfTime)) == kSteps);
  CHECK(stretch.steps_to_last(Duration(kEndOfTime - 999'999)) == kSteps);
  CHECK(stretch.steps_to_last(Duration(kEndOfTime - 1'000'000)) == kSteps - 1);
}

// The host disappears behind the GPU: 5 + 20, 7 + 18, 9 + 16.
TEST_CASE("costs add up part by part, and one part may fall") {
  const StepLine line{StepCost{.bandwidth = Duration(5), .host = Duration(20)},
                      StepCost{.bandwidth = Duration(2), .host = Duration(-2)}};
  const Stretch stretch(at(0), line, 3);
  CHECK(stretch.cost().bandwidth.count() == 21);
  CHECK(stretch.cost().host.count() == 54);
  CHECK(stretch.time().count() == 75);
  CHECK(stretch.steps_to_last(Duration(50)) == 2);
  CHECK(stretch.steps_to_last(Duration(51)) == 3);
}

/// Step by step, in wide integers.
std::int64_t steps_within_slowly(std::int64_t first, std::int64_t growth, std::int64_t most,
                                 std::int64_t limit) {
  std::int64_t steps = 0;
  Int128 sum = 0;
  while (steps < most && sum + first + Int128{growth} * steps <= limit) {
    sum += first + Int128{growth} * steps;
    ++steps;
  }
  return steps;
}

TEST_CASE("steps within a time are those a loop would count") {
  RandomStream random(1, "tests/stretch");
  for (int i = 0; i < 2000; ++i) {
    const auto first = static_cast<std::int64_t>(1 + random.below(1000));
    const auto growth = static_cast<std::int64_t>(random.below(50));
    const auto most = static_cast<std::int64_t>(1 + random.below(300));
    const auto limit = static_cast<std::int64_t>(random.below(100'000));
    const StepLine line = line_of(first, growth);
    CAPTURE(first, growth, most, limit);
    REQUIRE(steps_within(line, most, Duration(limit)) == steps_within_slowly(first, growth, most, limit));
    // And both sides of the time that its own answer takes.
    const std::int64_t steps = steps_within(line, most, Duration(limit));
    if (steps >= 1) {
      const Duration time = Stretch(at(0), line, steps).time();
      REQUIRE(steps_within(line, most, time) == steps);
      REQUIRE(steps_within(line, most, time - Duration(1)) == steps - 1);
    }
  }
}

TEST_CASE("steps within a time, with numbers at the end of what they can be") {
  constexpr std::int64_t kForever = StepLine::kForever;
  CHECK(steps_within(line_of(1, 0), kForever, Duration(kEndOfTime)) == kEndOfTime);
  CHECK(steps_within(line_of(kEndOfTime, 0), kForever, Duration(kEndOfTime)) == 1);
  CHECK(steps_within(line_of(kEndOfTime, 0), kForever, Duration(kEndOfTime - 1)) == 0);
  CHECK(steps_within(line_of(1, kEndOfTime), kForever, Duration(kEndOfTime)) == 1);
  CHECK(steps_within(line_of(1, kEndOfTime - 2), kForever, Duration(kEndOfTime)) == 2);
  CHECK(steps_within(line_of(kEndOfTime, kEndOfTime), kForever, Duration(kEndOfTime)) == 1);
  CHECK(steps_within(line_of(1, 2), kForever, Duration(9'000'000'000'000'000'000)) == 3'000'000'000);
  CHECK(steps_within(line_of(1, 2), kForever, Duration(8'999'999'999'999'999'999)) == 2'999'999'999);
  CHECK(steps_within(line_of(1, 2), 5, Duration(kEndOfTime)) == 5);
  CHECK(steps_within(line_of(1, 2), 5, Duration(25)) == 5);
  CHECK(steps_within(line_of(1, 2), 5, Duration(24)) == 4);
  CHECK(steps_within(line_of(1, 2), 1, Duration(0)) == 0);
}

}  // namespace
}  // namespace inferometer
