#include "sim/engine/event_queue.hpp"

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TimePoint at(std::int64_t ps) {
  return TimePoint(picoseconds(ps));
}

bool same(const Event& a, const Event& b) {
  return a.time_ps == b.time_ps && a.kind() == b.kind() && a.target() == b.target();
}

TEST_CASE("events of one instant: step ends, then arrivals, then schedules, each by replica") {
  EventQueue queue;
  queue.push(Event::at(at(5), EventKind::schedule, 0));
  queue.push(Event::at(at(5), EventKind::step_end, 2));
  queue.push(Event::at(at(5), EventKind::arrival, 0));
  queue.push(Event::at(at(5), EventKind::step_end, 1));
  queue.push(Event::at(at(5), EventKind::schedule, 3));
  queue.push(Event::at(at(4), EventKind::schedule, 9));
  queue.push(Event::at(at(6), EventKind::step_end, 0));
  const std::vector<Event> expected{
      Event::at(at(4), EventKind::schedule, 9), Event::at(at(5), EventKind::step_end, 1),
      Event::at(at(5), EventKind::step_end, 2), Event::at(at(5), EventKind::arrival, 0),
      Event::at(at(5), EventKind::schedule, 0), Event::at(at(5), EventKind::schedule, 3),
      Event::at(at(6), EventKind::step_end, 0)};
  CHECK(queue.size() == expected.size());
  for (const Event& event : expected) {
    REQUIRE_FALSE(queue.empty());
    CHECK(same(queue.top(), event));
    CHECK(same(queue.pop(), event));
  }
  CHECK(queue.empty());
}

TEST_CASE("a random mix of pushes and pops comes out in order") {
  RandomStream random(7, "tests/event_queue");
  EventQueue queue;
  std::vector<Event> model;
  const auto earlier = [](const Event& a, const Event& b) {
    return a.time_ps != b.time_ps ? a.time_ps < b.time_ps
           : a.kind() != b.kind() ? a.kind() < b.kind()
                                  : a.target() < b.target();
  };
  constexpr int kOperations = 20'000;
  for (int i = 0; i < kOperations; ++i) {
    if (model.empty() || random.below(100) < 52) {
      const Event event =
          Event::at(at(static_cast<std::int64_t>(random.below(50))), static_cast<EventKind>(random.below(3)),
                    static_cast<std::uint32_t>(random.below(4)));
      queue.push(event);
      model.push_back(event);
    } else {
      const auto least = std::min_element(model.begin(), model.end(), earlier);
      REQUIRE(same(queue.pop(), *least));
      model.erase(least);
    }
    REQUIRE(queue.size() == model.size());
  }
}

}  // namespace
}  // namespace inferometer
