#include "workloads/generated_workload.hpp"

#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

LengthSampler sampler(double correlation, std::uint64_t seed) {
  return LengthSampler(make_uniform_length(TokenCount(1), TokenCount(4000)),
                       make_uniform_length(TokenCount(1), TokenCount(500)), correlation, seed);
}

std::vector<Request> all(Workload& workload) {
  std::vector<Request> requests;
  Request request;
  while (const auto arrival = workload.next_arrival()) {
    CHECK(workload.next_arrival() == arrival);
    workload.take(request);
    CHECK(request.arrival == *arrival);
    requests.push_back(request);
  }
  return requests;
}

std::vector<Request> poisson(double correlation, std::uint64_t seed, const MaxNewRule& max_new = {}) {
  const auto workload = make_generated_workload(make_poisson_arrivals(PerSecond(7), seed, 300),
                                                RequestBodies(sampler(correlation, seed), max_new), 300);
  CHECK(workload->size_hint() == 300);
  return all(*workload);
}

}  // namespace

TEST_CASE("a generated workload gives as many requests as asked, numbered in order") {
  const std::vector<Request> requests = poisson(0, 1);
  REQUIRE(requests.size() == 300);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(requests[i].id == static_cast<std::int64_t>(i));
    CHECK(requests[i].prompt.count() >= 1);
    CHECK(requests[i].max_new == requests[i].output);
    CHECK(requests[i].session == -1);
  }
  const auto none = make_generated_workload(make_all_at_once_arrivals(), RequestBodies(sampler(0, 1)), 0);
  CHECK_FALSE(none->next_arrival().has_value());
  Request request;
  CHECK_THROWS_AS(none->take(request), std::logic_error);
}

TEST_CASE("the same seed gives the same requests, another seed others") {
  const std::vector<Request> a = poisson(0.3, 1), b = poisson(0.3, 1), c = poisson(0.3, 2);
  int same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].arrival == b[i].arrival);
    CHECK(a[i].prompt == b[i].prompt);
    CHECK(a[i].output == b[i].output);
    same += a[i].arrival == c[i].arrival || a[i].prompt == c[i].prompt ? 1 : 0;
  }
  CHECK(same < 10);
}

TEST_CASE("correlation changes outputs only, other lengths change no arrival") {
  const std::vector<Request> a = poisson(0, 1), b = poisson(0.8, 1);
  int same_output = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].arrival == b[i].arrival);
    CHECK(a[i].prompt == b[i].prompt);
    same_output += a[i].output == b[i].output ? 1 : 0;
  }
  CHECK(same_output < 30);
}

TEST_CASE("what clients allow is fixed or a multiple of the output") {
  MaxNewRule fixed;
  fixed.tokens = TokenCount(250);
  CHECK(fixed.max_new(TokenCount(250)) == TokenCount(250));
  CHECK(fixed.max_new(TokenCount(20)) == TokenCount(250));
  CHECK(fixed.max_new(TokenCount(251)) == TokenCount(251));
  MaxNewRule multiple;
  multiple.factor = 1.5;
  CHECK(multiple.max_new(TokenCount(10)) == TokenCount(15));
  CHECK(multiple.max_new(TokenCount(11)) == TokenCount(17));
  CHECK(multiple.max_new(TokenCount(1)) == TokenCount(2));
  for (const Request& request : poisson(0, 1, fixed)) {
    CHECK(request.max_new.count() == std::max<std::int64_t>(250, request.output.count()));
  }
}
