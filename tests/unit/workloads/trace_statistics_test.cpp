#include "workloads/trace_statistics.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::open_text;

namespace {

TraceStatistics statistics_of(const std::string& text) {
  const auto trace = open_text(text);
  return gather_statistics(*trace, trace->hash_block_tokens());
}

}  // namespace

// Worked by hand from numpy's definition: position share * (n - 1), linear between neighbours.
TEST_CASE("percentiles are linear between requests", "[trace_statistics]") {
  const std::vector<std::int64_t> values{10, 20, 40, 80};
  CHECK(percentile(values, 0) == 10);
  CHECK(percentile(values, 0.5) == 30);
  CHECK(percentile(values, 0.25) == 17.5);
  CHECK(percentile(values, 0.9) == Approx(68));  // 40 + 0.7 * 40
  CHECK(percentile(values, 1) == 80);
  CHECK(percentile({7}, 0.99) == 7);
}

TEST_CASE("rank correlation", "[trace_statistics]") {
  CHECK(*rank_correlation({1, 2, 3, 4}, {10, 200, 3'000, 40'000}) == Approx(1));
  CHECK(*rank_correlation({1, 2, 3, 4}, {9, 7, 5, 3}) == Approx(-1));
  // Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): d = 0, 1, -1, 0.
  CHECK(*rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}) == Approx(0.8));
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  CHECK(*rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}) == Approx(4.5 / std::sqrt(22.5)));
  CHECK_FALSE(rank_correlation({5, 5, 5}, {1, 2, 3}).has_value());
  CHECK_FALSE(rank_correlation({}, {}).has_value());
}

TEST_CASE("arrivals: span, rate, variation of gaps, peaks", "[trace_statistics]") {
  const TraceStatistics result = statistics_of(
      "arrival_s,prompt_tokens,output_tokens\n"
      "0,1,1\n0.5,1,1\n0.999,1,1\n1,1,1\n59.9,1,1\n60,1,1\n61,1,1\n64,1,1\n");
  CHECK(result.requests == 8);
  CHECK(result.span == seconds(64));
  CHECK(*result.mean_rate_per_s == Approx(7.0 / 64));
  CHECK(result.peak_per_second == 3);  // 0, 0.5, 0.999
  CHECK(result.peak_per_minute == 5);
  // Parts of 4 s and one picosecond, so that the last request is in the last: 60 s falls in the 15th.
  CHECK(result.arrivals_over_time ==
        std::vector<std::int64_t>{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2});
  // Gaps 0.5, 0.499, 0.001, 58.9, 0.1, 1, 3 s.
  double squares = 0;
  for (const double gap : {0.5, 0.499, 0.001, 58.9, 0.1, 1.0, 3.0}) {
    squares += (gap - 64.0 / 7) * (gap - 64.0 / 7);
  }
  CHECK(*result.gap_variation == Approx(std::sqrt(squares / 7) / (64.0 / 7)));
}

TEST_CASE("evenly spaced requests do not vary", "[trace_statistics]") {
  CHECK(*statistics_of("arrival_s,prompt_tokens,output_tokens\n0,1,1\n2,1,1\n4,1,1\n").gap_variation == 0);
}

TEST_CASE("a trace in one instant has no rate", "[trace_statistics]") {
  const TraceStatistics result =
      statistics_of("arrival_s,prompt_tokens,output_tokens\n3,5,9\n3,7,9\n3,9,9\n");
  CHECK_FALSE(result.mean_rate_per_s.has_value());
  CHECK_FALSE(result.gap_variation.has_value());
  CHECK_FALSE(result.length_rank_correlation.has_value());
  CHECK(result.peak_per_second == 3);
  CHECK(result.prompt.p50 == 7);
  CHECK(result.output.total_tokens == 27);
}

TEST_CASE("lengths fall into powers of two", "[trace_statistics]") {
  const TraceStatistics result =
      statistics_of("arrival_s,prompt_tokens,output_tokens\n0,1,7\n0,2,8\n0,3,8\n0,4,15\n0,2147483648,16\n");
  CHECK(result.prompt.per_power_of_two.size() == 32);
  CHECK(result.prompt.per_power_of_two[0] == 1);
  CHECK(result.prompt.per_power_of_two[1] == 2);
  CHECK(result.prompt.per_power_of_two[2] == 1);
  CHECK(result.prompt.per_power_of_two[31] == 1);
  CHECK(result.output.per_power_of_two == std::vector<std::int64_t>{0, 0, 1, 3, 1});
  CHECK(result.output.mean == Approx(10.8));
}

// Reused by request: nothing; 512, since block 3 follows a new one; 600, the whole prompt; nothing; nothing.
TEST_CASE("prefix reuse counts leading blocks seen before, and no more than the prompt",
          "[trace_statistics]") {
  const TraceStatistics result = statistics_of(
      "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}\n"
      "{\"timestamp\": 0, \"input_length\": 1536, \"output_length\": 1, \"hash_ids\": [1, 9, 3]}\n"
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [1, 9]}\n"
      "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [7]}\n"
      "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"session_id\": 4}\n");
  CHECK(result.reuse.tokens == 512 + 600);
  CHECK(result.reuse.distinct == 6);  // 3 after 9 is not 3 after 2
  CHECK(result.requests_with_content == 4);
  CHECK(result.sessions == 1);
  CHECK(result.requests_in_sessions == 1);
}

TEST_CASE("an empty trace has statistics too", "[trace_statistics]") {
  const TraceStatistics result = statistics_of("arrival_s,prompt_tokens,output_tokens\n");
  CHECK(result.requests == 0);
  CHECK(result.prompt.per_power_of_two.empty());
}
