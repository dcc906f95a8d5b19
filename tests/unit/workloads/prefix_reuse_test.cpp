#include "workloads/prefix_reuse.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

Request request(Duration at, std::vector<ContentRun> content, std::int64_t session = -1,
                std::uint64_t output_content = 0, std::int64_t output = 1) {
  Request result;
  result.arrival = TimePoint(at);
  result.content = std::move(content);
  result.session = session;
  result.output_content = output_content;
  result.output = TokenCount(output);
  return result;
}

PrefixReuse reuse_of(const std::vector<Request>& requests, std::int64_t block = 0) {
  PrefixReuseCounter counter(block);
  for (const Request& one : requests) {
    counter.add(one);
  }
  return counter.result();
}

}  // namespace

TEST_CASE("runs are reused after the same tokens only, as far as the shorter goes", "[prefix_reuse]") {
  const PrefixReuse reuse =
      reuse_of({request(seconds(0), {{1, 100}, {2, 50}}), request(seconds(1), {{1, 100}, {2, 30}}),  // 130
                request(seconds(2), {{1, 80}, {2, 50}}),   // 80: 2 comes after 80 here
                request(seconds(3), {{1, 120}, {2, 50}}),  // 100 of 120
                request(seconds(4), {{2, 50}, {1, 100}}),  // 0
                request(seconds(5), {}), request(seconds(6), {{1, 100}, {2, 50}, {3, 9}})});  // 150
  CHECK(reuse.tokens == 130 + 80 + 100 + 150);
  CHECK(reuse.requests == 4);
  CHECK(reuse.longest_tokens == 150);
  CHECK(reuse.references == 13);
  CHECK(reuse.references_seen == 2 + 1 + 1 + 2);
  CHECK(reuse.distinct == 7);
  // 1 after nothing: 100; 2 after 100 of 1: 50, each once.
  CHECK(reuse.distinct_tokens == 150);
  CHECK(reuse.full_references == 0);
}

TEST_CASE("blocks are full when both were", "[prefix_reuse]") {
  const PrefixReuse reuse =
      reuse_of({request(seconds(0), {{1, 16}, {2, 5}}), request(seconds(1), {{1, 16}, {2, 16}}),
                request(seconds(2), {{1, 16}, {2, 16}}), request(seconds(3), {{1, 7}})},
               16);
  CHECK(reuse.references_seen == 0 + 2 + 2 + 1);
  CHECK(reuse.full_references == 1 + 2 + 2 + 0);
  CHECK(reuse.full_references_seen == 0 + 1 + 2 + 0);  // 2 was not yet full
}

TEST_CASE("reuse within a window counts from the last use, its end included", "[prefix_reuse]") {
  const std::vector<ContentRun> prompt{{1, 10}};
  const PrefixReuse reuse =
      reuse_of({request(seconds(0), prompt), request(seconds(60), prompt),
                request(seconds(120) + picoseconds(1), prompt),
                request(seconds(720) + picoseconds(1), {{1, 4}}), request(seconds(2'000), prompt)});
  CHECK(reuse.tokens == 10 + 10 + 4 + 10);
  CHECK(reuse.tokens_within[0] == 10);
  CHECK(reuse.tokens_within[1] == 10 + 10 + 4);
  CHECK(reuse.distinct_tokens_within[0] == 10);
  CHECK(reuse.distinct_tokens_within[1] == 10);
  CHECK(reuse.distinct_tokens == 10);
}

TEST_CASE("answers count as seen, and what the own session had is told apart", "[prefix_reuse]") {
  const PrefixReuse reuse =
      reuse_of({request(seconds(0), {{1, 100}, {2, 10}}, 0, 50, 7),
                request(seconds(1), {{1, 100}, {3, 10}}, 1, 51, 7),                  // 100 of session 0
                request(seconds(2), {{1, 100}, {2, 10}, {50, 7}, {4, 5}}, 0, 0, 7),  // 117 of its own
                request(seconds(3), {{1, 100}, {3, 10}, {51, 9}}, 1)});              // 117 of its own
  CHECK(reuse.tokens == 100 + 117 + 117);
  CHECK(reuse.same_session_tokens == 234);
  CHECK(reuse.requests == 3);
}
