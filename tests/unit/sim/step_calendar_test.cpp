#include "sim/batch/step_calendar.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("a calendar names the next step with somebody due and then gives them out") {
  StepCalendar calendar;
  CHECK(calendar.empty());
  calendar.add(3, 17, 10);
  calendar.add(5, 12, 10);
  calendar.add(0, 17, 10);
  CHECK(calendar.next(10) == 12);
  CHECK(calendar.take(11) == kNoSequence);
  CHECK(calendar.next(12) == 12);
  CHECK(calendar.take(12) == 5);
  CHECK(calendar.take(12) == kNoSequence);
  CHECK(calendar.next(13) == 17);
  calendar.remove(3);
  CHECK(calendar.next(13) == 17);
  CHECK(calendar.take(17) == 0);
  CHECK(calendar.empty());
}

TEST_CASE("steps far ahead and the turn of the wheel") {
  // The first wheel has 1,024 steps; 1,023 ahead is its last place, just behind the one it begins at.
  StepCalendar calendar;
  calendar.add(1, 1'000 + 1'023, 1'000);
  CHECK(calendar.next(1'000) == 2'023);
  CHECK(calendar.next(2'000) == 2'023);
  calendar.add(2, 1'000 + 1'024, 1'000);  // the wheel grows
  calendar.add(3, 1'000'000, 1'000);      // and again
  CHECK(calendar.next(1'000) == 2'023);
  CHECK(calendar.take(2'023) == 1);
  CHECK(calendar.next(2'024) == 2'024);
  CHECK(calendar.take(2'024) == 2);
  CHECK(calendar.next(2'025) == 1'000'000);
  calendar.add(7, 1'000'000, 999'999);
  calendar.add(8, 1'000'001, 999'999);
  calendar.remove(3);
  CHECK(calendar.take(1'000'000) == 7);
  CHECK(calendar.next(1'000'000) == 1'000'001);
}

TEST_CASE("who is due more than a million steps ahead is found again") {
  constexpr std::int64_t kFar = 1'000'000'000'000;
  StepCalendar calendar;
  calendar.add(4, kFar, 5);
  calendar.add(6, kFar + 1, 5);
  calendar.add(9, 3'000'000, 5);
  std::int64_t now = 5;
  int looks = 0;
  for (; calendar.next(now) < 3'000'000; ++looks) {
    now = calendar.next(now);
    CHECK(calendar.take(now) == kNoSequence);
  }
  CHECK(looks == 2);  // a look each time the wheel of 2^20 steps has turned
  CHECK(calendar.next(now) == 3'000'000);
  CHECK(calendar.take(3'000'000) == 9);
  calendar.remove(6);
  for (now = 3'000'000; calendar.next(now) < kFar;) {
    now = calendar.next(now);
    REQUIRE(calendar.take(now) == kNoSequence);
  }
  CHECK(calendar.take(kFar) == 4);
  CHECK(calendar.empty());
}

/// The same questions to a calendar and to a plain map, with gaps from 1 step to so many.
void compare(std::int64_t farthest, std::uint64_t seed) {
  RandomStream random(seed, "tests/step_calendar");
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  StepCalendar calendar;
  std::map<SequenceId, std::int64_t> plain;
  std::int64_t now = below(100'000);
  for (int round = 0; round < 3'000; ++round) {
    const auto id = static_cast<SequenceId>(below(60));
    if (plain.count(id) == 0) {
      const std::int64_t step = now + 1 + below(farthest);
      calendar.add(id, step, now);
      plain[id] = step;
    } else if (below(4) == 0) {
      calendar.remove(id);
      plain.erase(id);
    }
    REQUIRE(calendar.empty() == plain.empty());
    if (plain.empty()) {
      continue;
    }
    const auto first = std::min_element(plain.begin(), plain.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::int64_t next = first->second;
    REQUIRE(calendar.next(now) == next);
    now += std::min(1 + below(farthest / 8 + 2), next - now);
    for (SequenceId taken = calendar.take(now); taken != kNoSequence; taken = calendar.take(now)) {
      REQUIRE(plain.at(taken) == now);
      plain.erase(taken);
    }
    REQUIRE(std::none_of(plain.begin(), plain.end(), [&](const auto& due) { return due.second <= now; }));
  }
}

TEST_CASE("a calendar says what a plain list of steps says") {
  for (const std::int64_t farthest : {1, 3, 70, 1'000, 5'000, 300'000}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      CAPTURE(farthest, seed);
      compare(farthest, seed);
    }
  }
}

}  // namespace
}  // namespace inferometer
