// Traces in which requests wait for answers, and conversations that cannot be.

#include "tests/support/catch.hpp"
#include "tests/support/serve_workload.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::error_of;
using inferometer::test::open_text;
using inferometer::test::requests_of;
using inferometer::test::Seen;
using inferometer::test::serve;

namespace {

/// A row of `prompt` tokens, by which tests know it again.
std::string row(const std::string& members, int prompt) {
  return "{" + members + ", \"input_length\": " + std::to_string(prompt) + ", \"output_length\": 1}\n";
}

Duration two_seconds(std::int64_t) {
  return seconds(2);
}

std::vector<std::pair<std::int64_t, std::int64_t>> prompts_and_milliseconds(const Seen& seen) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const Request& request : seen.requests) {
    result.emplace_back(request.prompt.count(), request.arrival.since_start().count() / 1'000'000'000);
  }
  return result;
}

using Rows = std::vector<std::pair<std::int64_t, std::int64_t>>;

const std::string kTwoSessions =
    row(R"("session_id": "a", "timestamp": 1000)", 1) + row(R"("session_id": "a", "delay": 500)", 2) +
    row(R"("session_id": "a")", 3) + row(R"("session_id": "b", "timestamp": 2000)", 11) +
    row(R"("session_id": "b", "delay": 0.25)", 12) + row(R"("timestamp": 9000)", 20);

}  // namespace

// Answers take 2 s. a: 0, then 2 + 0.5, then 4.5 + 0; b: 1 s after the first of all, then 3 + 0.00025.
TEST_CASE("a session's turns come their delay after the answer before", "[trace]") {
  const auto trace = open_text(kTwoSessions);
  const Seen seen = serve(*trace, two_seconds);
  CHECK(prompts_and_milliseconds(seen) ==
        Rows{{1, 0}, {11, 1'000}, {2, 2'500}, {12, 3'000}, {3, 4'500}, {20, 8'000}});
  CHECK(seen.arrivals[3] == TimePoint(seconds(3) + microseconds(250)));
  CHECK(seen.requests[2].session == seen.requests[0].session);
  CHECK_FALSE(seen.delays[1].has_value());
  CHECK(seen.delays[2] == milliseconds(500));
  CHECK(seen.delays[4] == Duration(0));
}

TEST_CASE("what waits does not come before the answer", "[trace]") {
  const auto trace = open_text(kTwoSessions);
  Request request;
  trace->take(request);
  trace->take(request);
  CHECK(trace->next_arrival() == TimePoint(seconds(8)));  // the request of no session
  trace->finished(0, TimePoint(seconds(20)));
  CHECK(trace->next_arrival() == TimePoint(seconds(8)));
  trace->take(request);
  CHECK(trace->next_arrival() == TimePoint(milliseconds(20'500)));
}

TEST_CASE("scale, limit and window apply to what waits", "[trace]") {
  TraceOptions options;
  options.rate_scale = 2;
  CHECK(prompts_and_milliseconds(serve(*open_text(kTwoSessions, options), two_seconds)) ==
        Rows{{1, 0}, {11, 500}, {2, 2'250}, {12, 2'500}, {20, 4'000}, {3, 4'250}});
  options = {};
  options.limit = 3;
  CHECK(prompts_and_milliseconds(serve(*open_text(kTwoSessions, options), two_seconds)) ==
        Rows{{1, 0}, {11, 1'000}, {2, 2'500}});
  options = {};
  options.window_start = milliseconds(500);
  options.window_end = seconds(5);
  CHECK(prompts_and_milliseconds(serve(*open_text(kTwoSessions, options), two_seconds)) ==
        Rows{{11, 500}, {12, 2'500}});
}

// Two rows of session a come at times of their own; what waits, waits for the row above it.
TEST_CASE("several rows of a session may be under way at once", "[trace]") {
  const std::string text = row(R"("session_id": "a", "timestamp": 0)", 1) +
                           row(R"("session_id": "a", "timestamp": 1000)", 2) +
                           row(R"("session_id": "a", "delay": 100)", 3);
  CHECK(prompts_and_milliseconds(serve(*open_text(text), two_seconds)) ==
        Rows{{1, 0}, {2, 1'000}, {3, 3'100}});
  CHECK(
      error_of(text + row(R"("session_id": "a", "timestamp": 5000)", 4)) ==
      "t:4:34: expected \"delay\", as in the session's row before, found \"timestamp\": a session that waits "
      "for answers goes on waiting");
}

TEST_CASE("sessions without times begin at the rate, which counts all rows", "[trace]") {
  std::string text;
  constexpr int kSessions = 20'000;
  for (int i = 0; i < kSessions; ++i) {
    text += row("\"session_id\": " + std::to_string(i), 1) +
            row("\"delay\": 1000, \"session_id\": " + std::to_string(i), 2);
  }
  TraceOptions options;
  options.rate = PerSecond(8);
  const auto trace = open_text(text, options);
  CHECK(trace->format() == "aiperf");
  const Seen seen = serve(*trace, two_seconds);
  REQUIRE(seen.requests.size() == 2 * kSessions);
  // 40,000 rows at 8 a second: 5,000 s, with a deviation of 5,000 / sqrt(20,000) = 35 s.
  CHECK(to_seconds(seen.arrivals.back().since_start()) == Approx(5'000).margin(4 * 35));
  CHECK_FALSE(open_text(text, options)->delay().has_value());
  options.rate.reset();
  CHECK(error_of(text, options) ==
        "t: the trace has lengths but no arrival times: give a request rate for it");
}

TEST_CASE("a trace put in order keeps sessions together", "[trace]") {
  TraceOptions options;
  options.sort = true;
  const std::string text =
      row(R"("session_id": "b", "timestamp": 2000)", 11) + row(R"("session_id": "b", "delay": 1000)", 12) +
      row(R"("session_id": "a", "timestamp": 0)", 1) + row(R"("session_id": "a", "delay": 500)", 2);
  CHECK(prompts_and_milliseconds(serve(*open_text(text, options), two_seconds)) ==
        Rows{{1, 0}, {11, 2'000}, {2, 2'500}, {12, 5'000}});
  CHECK(
      error_of(text).starts_with("t:3:34: expected a time not before the line above, found one 2 s earlier"));
  options = {};
  options.skip_bad_lines = true;
  const auto rest = open_text(text, options);
  CHECK(prompts_and_milliseconds(serve(*rest, two_seconds)) == Rows{{11, 0}, {12, 3'000}});
  CHECK(rest->skipped_lines() == 2);  // a's first row, and the second, which waits for nothing then
}

TEST_CASE("rows that wait for nothing are errors", "[trace]") {
  const std::string first = row(R"("session_id": "a", "timestamp": 0)", 1);
  CHECK(error_of(first + row(R"("session_id": "b", "delay": 5)", 1)) ==
        "t:2:30: expected \"timestamp\" in the first row of a session, found none");
  CHECK(error_of(first + row(R"("session_id": "b")", 1)) ==
        "t:2: expected \"timestamp\" in the first row of a session, found none");
  CHECK(error_of(first + row(R"("delay": 5)", 1))
            .starts_with("t:2:11: expected \"session_id\" beside \"delay\""));
  CHECK(error_of(row(R"("timestamp": 0)", 1) + row(R"("timestamp": 0)", 1) +
                 row(R"("session_id": "b", "delay": 5)", 1)) ==
        "t:3:30: expected \"timestamp\", found \"delay\": a trace in which requests follow answers has "
        "\"session_id\" on one of its first two lines");
  TraceOptions options;
  options.rate = PerSecond(1);
  CHECK(error_of(row(R"("session_id": "b", "delay": 5)", 1), options) ==
        "t:1:30: expected no \"delay\" in the first row of a session, which follows no answer");
  CHECK(error_of(row(R"("session_id": "b", "delay": 0)", 1), options).empty());
  CHECK(error_of(row(R"("session_id": "b")", 1) + row(R"("session_id": "b", "timestamp": 7)", 1), options)
            .starts_with("t:2:34: expected no \"timestamp\", as on the first line"));
}

TEST_CASE("text that nobody counted is not a trace", "[trace]") {
  CHECK(error_of("{\"text_input\": \"Why?\", \"output_length\": 4}\n") ==
        "t:1:2: expected \"input_length\" (trace format aiperf), found only \"text_input\", whose tokens "
        "nobody "
        "counted");
}

TEST_CASE("the block size of hash ids may be another", "[trace]") {
  const std::string text =
      "{\"timestamp\": 0, \"input_length\": 33, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}";
  TraceOptions options;
  options.hash_block_tokens = 16;
  const auto trace = open_text(text, options);
  CHECK(trace->hash_block_tokens() == 16);
  Request request;
  trace->take(request);
  CHECK(request.content == std::vector<ContentRun>{{2, 16}, {3, 16}, {4, 1}});
  CHECK(error_of(text) ==
        "t:1:70: expected \"hash_ids\" to have 1 ids, one for each 512 tokens begun of the prompt's 33, "
        "found 3");
  options.hash_block_tokens = 0;
  CHECK(error_of(text, options) == "t: expected a block size from 1 to 2147483648 tokens, found 0");
  options.hash_block_tokens = 16;
  CHECK(error_of("arrival_s,prompt_tokens,output_tokens\n0,1,1\n", options) ==
        "t: a block size means nothing to the format inferometer, which has no hash ids");
  CHECK(error_of(
            R"({"chat_id": 1, "parent_chat_id": -1, "timestamp": 0, "input_length": 1, "output_length": 1})",
            options) == "t: the format qwen_bailian has hash ids of 16 tokens each and leaves no choice");
}

TEST_CASE("chats that go on from each other in a circle are errors", "[trace]") {
  const auto chats = [](const std::vector<std::pair<int, int>>& pairs) {
    std::string text;
    for (const auto& [chat, parent] : pairs) {
      text += R"({"timestamp": 0, "input_length": 1, "output_length": 1, "chat_id": )" +
              std::to_string(chat) + ", \"parent_chat_id\": " + std::to_string(parent) + "}\n";
    }
    return text;
  };
  CHECK(error_of(chats({{1, -1}, {2, 2}})) ==
        "t:2:89: expected \"parent_chat_id\" to be another chat, found the chat itself");
  const std::string again = " expected each \"chat_id\" once, and before those that go on from it, found ";
  CHECK(error_of(chats({{1, 2}, {2, 1}})) == "t:2:68:" + again + "2 again");
  CHECK(error_of(chats({{1, -1}, {3, 2}, {2, 1}})) == "t:3:68:" + again + "2 again");  // parent after child
  CHECK(error_of(chats({{1, -1}, {2, 1}, {1, 2}})) == "t:3:68:" + again + "1 again");
  const std::vector<Request> requests = requests_of(chats({{1, -1}, {2, 1}, {3, 2}, {4, 1}, {6, 5}, {7, 5}}));
  const std::vector<std::int64_t> roots{1, 1, 1, 1, 5, 5};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    CHECK(requests[i].session == roots[i]);
  }
}

TEST_CASE("members of our own JSON lines", "[trace]") {
  const std::string start = "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 2, ";
  const Request request =
      requests_of(start +
                  "\"max_new_tokens\": 5, \"class\": 3, \"priority\": -1, \"content\": [[8, 4], "
                  "[1, 6]], \"output_content\": 77}")[0];
  CHECK(request.max_new == TokenCount(5));
  CHECK(request.service_class == 3);
  CHECK(request.priority == -1);
  CHECK(request.content == std::vector<ContentRun>{{8, 4}, {1, 6}});
  CHECK(request.output_content == 77);
  CHECK(error_of(start + "\"max_new_tokens\": 1}") ==
        "t:1:76: expected \"max_new_tokens\" to be a whole number from 2 to 2147483648, found \"1\"");
  CHECK(error_of(start + "\"content\": [[8, 4]]}") ==
        "t:1:69: expected \"content\" to add up to the prompt's 10 tokens, found 4");
  CHECK(error_of(start + "\"content\": [[8, 10]], \"hash_ids\": [1]}") ==
        "t:1:69: expected \"hash_ids\" or \"content\", found both");
  CHECK(
      error_of(start + "\"output_content\": 0}") ==
      "t:1:76: expected \"output_content\" to be a whole number from 1 to 9223372036854775807, found \"0\"");
}
