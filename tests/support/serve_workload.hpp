#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "workloads/workload.hpp"

namespace inferometer::test {

struct Seen {
  std::vector<Request> requests;    ///< in the order they were taken
  std::vector<TimePoint> arrivals;  ///< theirs
  std::vector<TimePoint> answered;  ///< by number of the request
  std::vector<std::optional<Duration>> delays;
  std::size_t most_outstanding = 0;
};

/// A service that answers every request after `service` (a function of its number), as an engine would drive
/// it.
template <class Service>
Seen serve(Workload& workload, Service service) {
  Seen seen;
  std::set<std::pair<TimePoint, std::int64_t>> running;
  Request request;
  while (true) {
    const auto arrival = workload.next_arrival();
    if (!arrival && running.empty()) {
      return seen;
    }
    if (!arrival || (!running.empty() && running.begin()->first <= *arrival)) {
      const auto [now, id] = *running.begin();
      running.erase(running.begin());
      workload.finished(id, now);
      continue;
    }
    workload.take(request);
    REQUIRE(request.arrival == *arrival);
    REQUIRE((seen.arrivals.empty() || request.arrival >= seen.arrivals.back()));
    REQUIRE(request.id == static_cast<std::int64_t>(seen.arrivals.size()));
    seen.requests.push_back(request);
    seen.arrivals.push_back(request.arrival);
    seen.delays.push_back(workload.delay());
    seen.answered.push_back(request.arrival + service(request.id));
    running.insert({seen.answered.back(), request.id});
    seen.most_outstanding = std::max(seen.most_outstanding, running.size());
  }
}

}  // namespace inferometer::test
