#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::arrivals_ps;
using inferometer::test::open_text;
using inferometer::test::requests_of;

namespace {

using Times = std::vector<std::int64_t>;

// Trace times 0, 1, 2, 3, 4 s; prompts 10 to 14.
const std::string kTrace =
    "arrival_s,prompt_tokens,output_tokens\n"
    "100,10,20\n"
    "101,11,21\n"
    "102,12,22\n"
    "103,13,23\n"
    "104,14,24\n";

constexpr std::int64_t kSecond = 1'000'000'000'000;

}  // namespace

TEST_CASE("the first request of a trace arrives at 0", "[trace]") {
  CHECK(arrivals_ps(requests_of(kTrace)) == Times{0, kSecond, 2 * kSecond, 3 * kSecond, 4 * kSecond});
}

TEST_CASE("rate_scale divides times", "[trace]") {
  TraceOptions options;
  options.rate_scale = 3;
  CHECK(arrivals_ps(requests_of(kTrace, options)) ==
        Times{0, 333'333'333'333, 666'666'666'667, kSecond, 1'333'333'333'333});
}

TEST_CASE("a window counts from the first request, its end is excluded, arrivals count from its start",
          "[trace]") {
  TraceOptions options;
  options.window_start = milliseconds(500);
  options.window_end = seconds(3);
  const std::vector<Request> requests = requests_of(kTrace, options);
  CHECK(arrivals_ps(requests) == Times{kSecond / 2, 3 * kSecond / 2});
  CHECK(requests[0].id == 0);
  CHECK(requests[0].prompt == TokenCount(11));

  options.rate_scale = 0.5;  // the window is of trace time, before scaling
  CHECK(arrivals_ps(requests_of(kTrace, options)) == Times{kSecond, 3 * kSecond});

  options.window_start = seconds(1);  // included
  options.window_end = picoseconds(3 * kSecond + 1);
  options.rate_scale = 1;
  CHECK(arrivals_ps(requests_of(kTrace, options)) == Times{0, kSecond, 2 * kSecond});

  options.window_start = seconds(5);
  options.window_end.reset();
  CHECK(requests_of(kTrace, options).empty());
}

TEST_CASE("the limit counts requests after the window", "[trace]") {
  TraceOptions options;
  options.limit = 2;
  CHECK(requests_of(kTrace, options).size() == 2);
  options.window_start = seconds(1);
  const std::vector<Request> requests = requests_of(kTrace, options);
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].prompt == TokenCount(12));
  options.limit = 10;
  CHECK(requests_of(kTrace, options).size() == 4);
}

TEST_CASE("nothing behind the limit is read", "[trace]") {
  TraceOptions options;
  options.limit = 5;
  CHECK(requests_of(kTrace + "broken\n", options).size() == 5);
  CHECK_THROWS_AS(requests_of(kTrace + "broken\n"), TraceError);
}

TEST_CASE("max_new is what clients allow, or more where a request emitted more", "[trace]") {
  TraceOptions options;
  options.max_new = TokenCount(22);
  const std::vector<Request> requests = requests_of(kTrace, options);
  CHECK(requests[0].max_new == TokenCount(22));
  CHECK(requests[0].output == TokenCount(20));
  CHECK(requests[3].max_new == TokenCount(23));
}

TEST_CASE("sort puts a trace in order and keeps the order of equal times", "[trace]") {
  const std::string text =
      "arrival_s,prompt_tokens,output_tokens\n"
      "5,1,1\n"
      "3,2,1\n"
      "5,3,1\n"
      "4,4,1\n"
      "3,5,1\n";
  TraceOptions options;
  options.sort = true;
  const std::vector<Request> requests = requests_of(text, options);
  CHECK(arrivals_ps(requests) == Times{0, 0, kSecond, 2 * kSecond, 2 * kSecond});
  std::vector<std::int64_t> prompts;
  for (const Request& request : requests) {
    prompts.push_back(request.prompt.count());
  }
  CHECK(prompts == std::vector<std::int64_t>{2, 5, 4, 1, 3});
}

TEST_CASE("the next arrival may be asked for again and again", "[trace]") {
  const auto trace = open_text(kTrace);
  CHECK(trace->next_arrival() == TimePoint());
  CHECK(trace->next_arrival() == TimePoint());
  Request request;
  trace->take(request);
  CHECK(request.prompt == TokenCount(10));
  CHECK(trace->next_arrival() == TimePoint(seconds(1)));
}

TEST_CASE("taking a request reuses its storage and leaves nothing of the old one", "[trace]") {
  const auto trace = open_text(
      "{\"timestamp\": 0, \"input_length\": 1029, \"output_length\": 9, \"session_id\": 3, \"hash_ids\": [1, "
      "2, "
      "3]}\n"
      "{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 7}\n"
      "{\"timestamp\": 0, \"input_length\": 6, \"output_length\": 5, \"hash_ids\": [4]}\n");
  Request request;
  REQUIRE(trace->next_arrival());
  trace->take(request);
  CHECK(request.content == std::vector<ContentRun>{{2, 512}, {3, 512}, {4, 5}});
  REQUIRE(trace->next_arrival());
  trace->take(request);
  CHECK(request.content.empty());
  CHECK(request.session == -1);
  CHECK(request.max_new == TokenCount(7));
  REQUIRE(trace->next_arrival());
  trace->take(request);
  CHECK(request.content == std::vector<ContentRun>{{5, 6}});
}
