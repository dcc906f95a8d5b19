// Sessions that are made up: what turns consist of, when they come, how many there are.

#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/serve_workload.hpp"
#include "workloads/content_ids.hpp"
#include "workloads/session_workload.hpp"

using namespace inferometer;
using inferometer::test::Seen;
using inferometer::test::serve;

namespace {

LengthSampler fixed(std::int64_t prompt, std::int64_t output) {
  return LengthSampler(make_fixed_length(TokenCount(prompt)), make_fixed_length(TokenCount(output)), 0, 1);
}

/// First questions of 100 tokens, later ones of 10, answers of 20.
SessionScripts scripts(const SessionOptions& options, std::int64_t prefix = 0) {
  RequestBodies bodies(fixed(100, 20));
  if (prefix > 0) {
    PrefixGroupOptions groups;
    groups.prefix = make_fixed_length(TokenCount(prefix));
    bodies.share_prefixes(PrefixGroups(groups, 1));
  }
  return SessionScripts(options, std::move(bodies), fixed(10, 20), 1);
}

SessionOptions three_turns() {
  SessionOptions options;
  options.turns = 3;
  options.think_time = {seconds(5), true};
  return options;
}

std::uint64_t question(std::int64_t session, std::int64_t turn) {
  return content_id(ContentKind::question, session, turn);
}

std::uint64_t answer(std::int64_t session, std::int64_t turn) {
  return content_id(ContentKind::answer, session, turn);
}

}  // namespace

// Sessions at 1 s and 2 s, answers after 2 s, 5 s of thought: 1, 8, 15 and 2, 9, (cut after five requests).
TEST_CASE("turns come after the answer and a thought, and repeat what was said", "[sessions]") {
  const auto workload =
      make_session_workload(make_constant_arrivals(PerSecond(1)), scripts(three_turns(), 50), 5);
  CHECK(workload->size_hint() == 5);
  const Seen seen = serve(*workload, [](std::int64_t) { return seconds(2); });
  CHECK(seen.arrivals == std::vector<TimePoint>{TimePoint(seconds(1)), TimePoint(seconds(2)),
                                                TimePoint(seconds(8)), TimePoint(seconds(9)),
                                                TimePoint(seconds(15))});
  const std::uint64_t prefix = content_id(ContentKind::prefix, 0);
  CHECK(seen.requests[0].content == std::vector<ContentRun>{{prefix, 50}, {question(0, 0), 100}});
  CHECK(
      seen.requests[2].content ==
      std::vector<ContentRun>{{prefix, 50}, {question(0, 0), 100}, {answer(0, 0), 20}, {question(0, 1), 10}});
  CHECK(seen.requests[4].content == std::vector<ContentRun>{{prefix, 50},
                                                            {question(0, 0), 100},
                                                            {answer(0, 0), 20},
                                                            {question(0, 1), 10},
                                                            {answer(0, 1), 20},
                                                            {question(0, 2), 10}});
  CHECK(seen.requests[4].prompt == TokenCount(210));
  CHECK(seen.requests[0].output_content == answer(0, 0));
  CHECK(seen.requests[4].output_content == 0);  // nobody goes on from it
  CHECK(seen.requests[3].output_content == 0);  // the session was cut
  CHECK(seen.requests[3].content[1].id == question(1, 0));
  CHECK(seen.requests[3].session == 1);
  CHECK_FALSE(seen.delays[1].has_value());
  CHECK(seen.delays[2] == seconds(5));
}

TEST_CASE("a session ends before a turn that is too long", "[sessions]") {
  const auto turns = [](std::int64_t max_context) {
    SessionOptions options = three_turns();
    options.max_context = TokenCount(max_context);
    return scripts(options, 50).next().turns.size();
  };
  // 50 + 100 + 20, then 30 more with each turn.
  CHECK(turns(230) == 3);
  CHECK(turns(229) == 2);
  CHECK(turns(200) == 2);
  CHECK(turns(199) == 1);
  CHECK(turns(1) == 1);  // the first is asked whatever it takes
}

// As above, 170, 200 and 230 tokens: a limit of 229 takes the third turn of each session away.
TEST_CASE("sessions that were cut short are counted apart from those that the run ended", "[sessions]") {
  SessionOptions options = three_turns();
  const auto counts = [&](std::int64_t requests) {
    const auto workload =
        make_session_workload(make_constant_arrivals(PerSecond(1)), scripts(options, 50), requests);
    serve(*workload, [](std::int64_t) { return seconds(2); });
    return std::pair(workload->counts().begun, workload->counts().cut);
  };
  CHECK(counts(6) == std::pair<std::int64_t, std::int64_t>(2, 0));
  options.max_context = TokenCount(229);
  CHECK(counts(6) == std::pair<std::int64_t, std::int64_t>(3, 3));
  CHECK(counts(5) == std::pair<std::int64_t, std::int64_t>(3, 2));  // one turn was left for the last
}

TEST_CASE("sessions that end early leave the others as they are", "[sessions]") {
  const auto scripts_within = [](std::optional<TokenCount> max_context) {
    SessionOptions options;
    options.turns = 4;
    options.turn_counts = SessionOptions::TurnCounts::geometric;
    options.think_time = {seconds(5), false};
    options.max_context = max_context;
    const auto lengths = [](std::uint64_t seed) {
      return LengthSampler(make_uniform_length(TokenCount(1), TokenCount(1'000)),
                           make_uniform_length(TokenCount(1), TokenCount(1'000)), 0, seed);
    };
    return SessionScripts(options, RequestBodies(lengths(1)), lengths(2), 1);
  };
  SessionScripts free = scripts_within(std::nullopt), limited = scripts_within(TokenCount(3'000));
  int shortened = 0;
  for (int i = 0; i < 100; ++i) {
    const SessionScript all = free.next(), some = limited.next();
    REQUIRE(some.turns.size() <= all.turns.size());
    shortened += some.turns.size() < all.turns.size() ? 1 : 0;
    for (std::size_t turn = 0; turn < some.turns.size(); ++turn) {
      REQUIRE(some.turns[turn].question == all.turns[turn].question);
      REQUIRE(some.turns[turn].output == all.turns[turn].output);
      REQUIRE(some.turns[turn].think == all.turns[turn].think);
    }
  }
  CHECK(shortened > 10);
  CHECK(shortened < 90);
}

TEST_CASE("turns have the asked mean and shape", "[sessions]") {
  constexpr int kSessions = 20'000;
  const auto count_turns = [](SessionOptions::TurnCounts counts) {
    SessionOptions options;
    options.turns = 4;
    options.turn_counts = counts;
    SessionScripts all = scripts(options);
    std::map<std::size_t, int> result;
    for (int i = 0; i < kSessions; ++i) {
      ++result[all.next().turns.size()];
    }
    return result;
  };
  CHECK(count_turns(SessionOptions::TurnCounts::fixed) == std::map<std::size_t, int>{{4, kSessions}});
  const std::map<std::size_t, int> uniform = count_turns(SessionOptions::TurnCounts::uniform);
  CHECK(uniform.size() == 7);
  for (const auto& [turns, count] : uniform) {
    CHECK(turns <= 7);
    CHECK(count == Approx(kSessions / 7.0).margin(4 * std::sqrt(kSessions / 7.0)));
  }
  std::map<std::size_t, int> geometric = count_turns(SessionOptions::TurnCounts::geometric);
  for (std::size_t turns = 1; turns <= 8; ++turns) {
    const double expected = kSessions * 0.25 * std::pow(0.75, static_cast<double>(turns - 1));
    CHECK(geometric[turns] == Approx(expected).margin(4 * std::sqrt(expected)));
  }
}

TEST_CASE("sessions for so many requests", "[sessions]") {
  CHECK(sessions_for(scripts(three_turns()), 0) == 0);
  CHECK(sessions_for(scripts(three_turns()), 3) == 1);
  CHECK(sessions_for(scripts(three_turns()), 4) == 2);
}

// Two clients, 1 s of thought between sessions, 5 s between turns, answers at once: 0, 5, 10 and again at 11.
TEST_CASE("a client has one session at a time", "[sessions]") {
  ClientOptions options;
  options.clients = 2;
  options.think_time = {seconds(1), true};
  options.ramp_up = seconds(4);  // the second client begins at 2 s
  const auto workload = make_session_workload(Clients(options, 10, 1), scripts(three_turns()), 10);
  const Seen seen = serve(*workload, [](std::int64_t) { return Duration(0); });
  const std::vector<std::int64_t> seconds_expected{0, 2, 5, 7, 10, 11, 12, 13, 16, 21};
  const std::vector<std::int64_t> sessions_expected{0, 1, 0, 1, 0, 2, 1, 3, 2, 2};
  REQUIRE(seen.requests.size() == 10);
  std::map<std::int64_t, int> turns;
  for (std::size_t i = 0; i < 10; ++i) {
    INFO(i);
    CHECK(seen.arrivals[i] == TimePoint(seconds(seconds_expected[i])));
    CHECK(seen.requests[i].session == sessions_expected[i]);
  }
  for (const Request& request : seen.requests) {
    ++turns[request.session];
  }
  CHECK(turns == std::map<std::int64_t, int>{{0, 3}, {1, 3}, {2, 3}, {3, 1}});
}

TEST_CASE("a session waits for its answer and a request finishes once", "[sessions]") {
  const auto workload = make_session_workload(make_all_at_once_arrivals(), scripts(three_turns()), 3);
  Request request;
  workload->take(request);
  CHECK_FALSE(workload->next_arrival().has_value());
  CHECK_THROWS_AS(workload->take(request), std::logic_error);
  workload->finished(0, TimePoint(seconds(1)));
  CHECK_THROWS_AS(workload->finished(0, TimePoint(seconds(1))), std::logic_error);
  CHECK(workload->next_arrival() == TimePoint(seconds(6)));
}
