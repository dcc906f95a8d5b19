#include "sim/metrics/busiest_second.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

const StepShape kShape{1, 1, 1, {}};

/// So many steps of so many tokens each, and longer by `growth` with each.
struct Told {
  Stretch stretch;
  std::int64_t emitted = 0;
};

Told told(TimePoint start, Duration first, Duration growth, std::int64_t steps, std::int64_t emitted) {
  return {Stretch(start, StepLine{{.compute = first}, {.compute = growth}, steps}, steps), emitted};
}

void tell(BusiestSecond& busiest, const Told& steps) {
  StepRecord record{0, 0, steps.stretch, kShape};
  record.emitted = steps.emitted;
  busiest.add(record, steps.stretch.end());
}

/// Step by step, from the definition.
std::int64_t by_brute_force(const std::vector<Told>& all) {
  std::map<std::int64_t, std::int64_t> by_second;
  for (const Told& steps : all) {
    for (std::int64_t i = 0; i < steps.stretch.steps(); ++i) {
      by_second[steps.stretch.end_of(i).since_start().count() / seconds(1).count()] += steps.emitted;
    }
  }
  std::int64_t most = 0;
  for (const auto& [second, tokens] : by_second) {
    most = std::max(most, tokens);
  }
  return most;
}

/// What a replica does: stretches of steps one after the other, with pauses.
std::vector<Told> random_replica(RandomStream& random, int stretches) {
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
  };
  std::vector<Told> all;
  TimePoint now;
  for (int i = 0; i < stretches; ++i) {
    now = now + (up_to(3) == 0 ? milliseconds(up_to(2500)) : Duration());
    const std::int64_t steps = up_to(2) == 0 ? 1 : 1 + up_to(300);
    all.push_back(told(now, milliseconds(1 + up_to(40)), microseconds(up_to(50)), steps, 1 + up_to(100)));
    now = all.back().stretch.end();
  }
  return all;
}

TEST_CASE("stretches of several replicas told at their ends: the busiest second is that of a count by hand") {
  RandomStream random(17, "replicas");
  for (int round = 0; round < 50; ++round) {
    std::vector<Told> all;
    for (int replica = 0; replica < 1 + round % 7; ++replica) {
      const std::vector<Told> one = random_replica(random, 40);
      all.insert(all.end(), one.begin(), one.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Told& a, const Told& b) { return a.stretch.end() < b.stretch.end(); });
    BusiestSecond busiest(false);
    for (const Told& steps : all) {
      tell(busiest, steps);
    }
    CAPTURE(round);
    CHECK(busiest.most() == by_brute_force(all));
    // Any other order gives the same.
    BusiestSecond backwards(false);
    std::for_each(all.rbegin(), all.rend(), [&](const Told& steps) { tell(backwards, steps); });
    CHECK(backwards.most() == busiest.most());
  }
}

TEST_CASE("one replica needs one counter") {
  RandomStream random(18, "replica");
  for (int round = 0; round < 20; ++round) {
    const std::vector<Told> all = random_replica(random, 60);
    BusiestSecond busiest(true);
    for (const Told& steps : all) {
      tell(busiest, steps);
    }
    CHECK(busiest.most() == by_brute_force(all));
  }
}

// Replica 0 emits 2 tokens at 0.9, 1.4, 1.9 and 2.4 s, told at 2.4 s; replica 1 emitted 5 at 1.0 s, told
// before.
TEST_CASE("a stretch told late adds to seconds that are over") {
  BusiestSecond busiest(false);
  tell(busiest, told(TimePoint(), seconds(1), {}, 1, 5));
  CHECK(busiest.most() == 5);
  tell(busiest, told(TimePoint(milliseconds(400)), milliseconds(500), {}, 4, 2));
  CHECK(busiest.most() == 9);
}

// A step belongs to the second in which it ends; what ends at 1 s sharp belongs to the second one.
TEST_CASE("a second begins with its first picosecond") {
  BusiestSecond busiest(false);
  tell(busiest, told(TimePoint(), seconds(1) - picoseconds(1), {}, 1, 3));
  tell(busiest, told(TimePoint(), seconds(1), {}, 1, 4));
  CHECK(busiest.most() == 4);
  tell(busiest, told(TimePoint(), seconds(2) - picoseconds(1), {}, 1, 1));
  CHECK(busiest.most() == 5);
}

}  // namespace
}  // namespace inferometer
