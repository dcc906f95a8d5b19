// `shared_prefix`, `sessions` and `classes` as a scenario writes them.

#include "workloads/sharing_config.hpp"

#include <string>

#include "base/config/config_node.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/serve_workload.hpp"
#include "workloads/content_ids.hpp"
#include "workloads/workload_config.hpp"

using namespace inferometer;
using inferometer::test::Seen;
using inferometer::test::serve;

namespace {

std::unique_ptr<Workload> make(const std::string& text, std::uint64_t seed = 1) {
  Diagnostics diagnostics;
  const Values section = parse(workload_table(), read_yaml_text(text, "w.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return make_workload(section, seed, "");
}

std::string error_of(const std::string& text) {
  try {
    make(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

Seen seen_of(const std::string& text, Duration service = seconds(1), std::uint64_t seed = 1) {
  return serve(*make(text, seed), [service](std::int64_t) { return service; });
}

const std::string kLengths =
    ", prompt: {distribution: fixed, tokens: 100}, output: {distribution: fixed, tokens: 20}";

}  // namespace

TEST_CASE("prefixes, questions and groups are as written") {
  const Seen seen = seen_of(
      "{generator: all_at_once, requests: 50, shared_prefix: {groups: 2, prefix: {distribution: fixed, "
      "tokens: "
      "300}}" +
      kLengths + "}");
  REQUIRE(seen.requests.size() == 50);
  for (const Request& request : seen.requests) {
    CHECK(request.prompt == TokenCount(400));
    REQUIRE(request.content.size() == 2);
    CHECK(request.content[0].tokens == 300);
    CHECK(request.content[0].id <= content_id(ContentKind::prefix, 1));
    CHECK(request.content[1] == ContentRun{content_id(ContentKind::question, request.id), 100});
    CHECK(request.session == -1);
  }
}

TEST_CASE("what is not asked for leaves requests as they were") {
  const std::string plain = "{generator: poisson, rate: 4 req/s, requests: 20, lengths: sharegpt";
  const Seen without = seen_of(plain + "}");
  const Seen with =
      seen_of(plain +
              ", shared_prefix: {groups: 2, prefix: {distribution: fixed, tokens: 300}}, classes: "
              "[{share: 1}, {share: 1, priority: 3}]}");
  int second = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(without.requests[i].content.empty());
    CHECK(with.arrivals[i] == without.arrivals[i]);
    CHECK(with.requests[i].prompt == without.requests[i].prompt + TokenCount(300));
    CHECK(with.requests[i].output == without.requests[i].output);
    CHECK(with.requests[i].priority == 3 * with.requests[i].service_class);
    second += with.requests[i].service_class;
  }
  CHECK(second > 0);
  CHECK(second < 20);
}

// 4 req/s in sessions of two: sessions at 0.5, 1, 1.5 s; answers take 1 s, thoughts 3.
TEST_CASE("the rate of sessions counts their turns") {
  const Seen seen = seen_of(
      "{generator: constant, rate: 4 req/s, requests: 6, sessions: {turns: 2, think_time: 3 s, "
      "think_times: fixed, follow_up: {distribution: fixed, tokens: 7}}" +
      kLengths + "}");
  CHECK(seen.arrivals ==
        std::vector<TimePoint>{TimePoint(milliseconds(500)), TimePoint(milliseconds(1'000)),
                               TimePoint(milliseconds(1'500)), TimePoint(milliseconds(4'500)),
                               TimePoint(milliseconds(5'000)), TimePoint(milliseconds(5'500))});
  CHECK(seen.requests[3].prompt == TokenCount(100 + 20 + 7));
  // Without follow_up questions stay as long as the first.
  CHECK(seen_of("{generator: constant, rate: 4 req/s, requests: 2, sessions: {turns: 2}" + kLengths + "}")
            .requests[1]
            .prompt == TokenCount(220));
}

TEST_CASE("the last session begins at the exact duration") {
  const std::string text =
      "{generator: poisson, rate: 4 req/s, requests: 100, sessions: {turns: 5, turn_counts: geometric}" +
      kLengths + "}";
  const Seen seen = seen_of(text);
  REQUIRE(seen.requests.size() == 100);
  TimePoint last;
  std::int64_t sessions = 0;
  for (const Request& request : seen.requests) {
    if (request.content.size() == 1) {
      last = request.arrival;
      ++sessions;
    }
  }
  CHECK(to_seconds(last.since_start()) == Approx(static_cast<double>(sessions) * 5 / 4));
}

TEST_CASE("closed-loop clients hold sessions") {
  const Seen seen = seen_of(
      "{generator: closed_loop, clients: 3, requests: 60, sessions: {turns: 4, turn_counts: uniform}" +
      kLengths + "}");
  CHECK(seen.requests.size() == 60);
  CHECK(seen.most_outstanding == 3);
}

TEST_CASE("another seed makes other sessions, the same seed the same") {
  const std::string text =
      "{generator: poisson, rate: 4 req/s, requests: 40, lengths: sharegpt, sessions: {turns: 4, "
      "turn_counts: "
      "geometric, think_time: 2 s}}";
  const Seen a = seen_of(text), b = seen_of(text), c = seen_of(text, seconds(1), 2);
  CHECK(a.arrivals == b.arrivals);
  CHECK(a.arrivals != c.arrivals);
  CHECK(a.requests[30].content == b.requests[30].content);
}

TEST_CASE("mistakes in what requests share are told where they stand") {
  const std::string start = "{generator: all_at_once" + kLengths + ", ";
  CHECK(error_of(start + "shared_prefix: {groups: 0, prefix: {distribution: fixed, tokens: 5}}}") !=
        "no error");
  CHECK(error_of(start + "shared_prefix: {groups: 2}}") != "no error");
  CHECK(error_of(start + "classes: []}") == "w.yaml:1:122: expected at least one class, found none");
  CHECK(error_of(start + "classes: [{priority: 1}]}") != "no error");
  CHECK(error_of(start + "classes: [{share: 0}]}") != "no error");
  CHECK(error_of(start + "sessions: {}}") != "no error");
  CHECK(error_of(start + "sessions: {turns: 1001}}") != "no error");
  CHECK(error_of(start + "sessions: {turns: 2, follow_up: {distribution: uniform, min: 5, max: 4}}}")
            .find("expected min <= max, found min 5 and max 4") != std::string::npos);
  CHECK(error_of("{preset: sharegpt, rate: 1 req/s, sessions: {turns: 2}}") != "no error");
  CHECK(error_of("{trace: a.csv, block_size: 0}") != "no error");
}
