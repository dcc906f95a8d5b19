#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/serve_workload.hpp"
#include "workloads/delayed_workload.hpp"
#include "workloads/generated_workload.hpp"

using namespace inferometer;
using inferometer::test::Seen;
using inferometer::test::serve;

namespace {

RequestBodies fixed_bodies(std::uint64_t seed = 1) {
  return RequestBodies(
      LengthSampler(make_fixed_length(TokenCount(100)), make_fixed_length(TokenCount(10)), 0, seed));
}

Duration random_service(std::int64_t id) {
  return milliseconds(static_cast<std::int64_t>(RandomStream(5, std::to_string(id)).below(900) + 1));
}

}  // namespace

TEST_CASE("one client with a fixed think time sends service + think apart") {
  ClosedLoopOptions options;
  options.clients.clients = 1;
  options.clients.think_time.mean = seconds(3);
  options.clients.think_time.is_fixed = true;
  options.requests = 4;
  const auto workload = make_closed_loop_workload(options, fixed_bodies());
  const Seen seen = serve(*workload, [](std::int64_t) { return seconds(2); });
  CHECK(seen.arrivals == std::vector<TimePoint>{TimePoint(), TimePoint(seconds(5)), TimePoint(seconds(10)),
                                                TimePoint(seconds(15))});
}

TEST_CASE("a delayed workload arrives later, and its clients go by the answers") {
  ClosedLoopOptions options;
  options.clients.clients = 1;
  options.requests = 3;
  const auto workload = delayed(make_closed_loop_workload(options, fixed_bodies()), milliseconds(250));
  const Seen seen = serve(*workload, [](std::int64_t) { return seconds(2); });
  CHECK(seen.arrivals == std::vector<TimePoint>{TimePoint(milliseconds(250)), TimePoint(milliseconds(2500)),
                                                TimePoint(milliseconds(4750))});
}

TEST_CASE("clients ramp up evenly and never have more than one request each in the system") {
  ClosedLoopOptions options;
  options.clients.clients = 8;
  options.clients.think_time.mean = milliseconds(100);
  options.clients.ramp_up = seconds(4);
  options.requests = 1000;
  const auto workload = make_closed_loop_workload(options, fixed_bodies());
  CHECK(workload->size_hint() == 1000);
  const Seen seen = serve(*workload, random_service);
  CHECK(seen.arrivals.size() == 1000);
  CHECK(seen.most_outstanding == 8);

  options.requests = 8;
  const auto starts = make_closed_loop_workload(options, fixed_bodies());
  const Seen first = serve(*starts, [](std::int64_t) { return seconds(60); });
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(first.arrivals[i] == TimePoint(milliseconds(500 * static_cast<std::int64_t>(i))));
  }
}

TEST_CASE("a closed loop waits for its clients") {
  ClosedLoopOptions options;
  options.clients.clients = 2;
  options.requests = 3;
  const auto workload = make_closed_loop_workload(options, fixed_bodies());
  Request request;
  workload->take(request);
  workload->take(request);
  CHECK_FALSE(workload->next_arrival().has_value());
  workload->finished(1, TimePoint(seconds(7)));
  CHECK(workload->next_arrival() == TimePoint(seconds(7)));
  workload->take(request);
  CHECK(request.id == 2);
  workload->finished(0, TimePoint(seconds(8)));
  CHECK_FALSE(workload->next_arrival().has_value());
  CHECK_THROWS_AS(workload->finished(0, TimePoint(seconds(9))), std::logic_error);
}

TEST_CASE("exponential think times have the asked mean and do not depend on the order of answers") {
  ClosedLoopOptions options;
  options.clients.clients = 1;
  options.clients.think_time.mean = seconds(2);
  options.requests = 20'001;
  const auto workload = make_closed_loop_workload(options, fixed_bodies());
  const Seen seen = serve(*workload, [](std::int64_t) { return Duration(0); });
  const double mean = to_seconds(seen.arrivals.back().since_start()) / 20'000;
  CHECK(std::fabs(mean - 2) < 4 * 2 / std::sqrt(20'000.0));

  options.clients.clients = 2;
  options.requests = 4;
  // {of the client that is answered first, of the other}
  const auto thinks = [&](std::int64_t first_done) {
    const auto both = make_closed_loop_workload(options, fixed_bodies());
    Request request;
    both->take(request);
    both->take(request);
    both->finished(first_done, TimePoint());
    const TimePoint first = both->next_arrival().value();
    both->take(request);
    both->finished(1 - first_done, TimePoint());
    return std::make_pair(first, both->next_arrival().value());
  };
  const auto straight = thinks(0), crossed = thinks(1);
  CHECK(straight.first == crossed.second);
  CHECK(straight.second == crossed.first);
  CHECK(straight.first != straight.second);
}
