#include "sim/report/terminal_summary.hpp"

#include <sstream>

#include "sim/report/text_layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/report_fixture.hpp"

namespace inferometer {
namespace {

using test::report_of_four;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string without_colour(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Worked out by hand from the tables in four_requests.hpp. The bar has 58 places: compute ends at 0.42 * 58
// = 24.4, bandwidth at 36.5 (rounded up), communication at 37.7, latency at 41.2, host at 46.4.
TEST_CASE("the summary of four requests, byte by byte") {
  const std::string expected =
      "four requests: 4 of 4 requests done in 100 ms of simulated time\n"
      "\n"
      "throughput  40.0 req/s   70.0 output tok/s   3,670 tok/s with input\n"
      "            at most 3 requests in the system\n"
      "goodput     20.0 req/s   50.0 % of requests kept their limits\n"
      "\n"
      "latency, ms       mean       p50       p90       p95       p99       max\n"
      "  TTFT            30.0      30.0      37.0      38.5      39.7      40.0\n"
      "  ITL             13.3      10.0      18.0      19.0      19.8      20.0\n"
      "  TPOT            12.5      12.5      14.5      14.8      14.9      15.0\n"
      "  E2E             40.0      40.0      54.0      57.0      59.4      60.0\n"
      "  queue           7.50      5.00      17.0      18.5      19.7      20.0\n"
      "\n"
      "SLO ttft_p99       39.7 ms  <= 50.0 ms   met with 20.6 % to spare\n"
      "SLO itl_p99        19.8 ms  <= 18.0 ms   MISSED by 10.0 %\n"
      "SLO goodput         50.0 %  >= 40.0 %    met with 25.0 % to spare\n"
      "queue       not applicable: 4 arrivals are too few to tell growth from\n"
      "            chance\n"
      "\n"
      "time        [########################=============x---hhhhh............]\n"
      "            # compute 42.0 %   = bandwidth 21.0 %\n"
      "            x communication 2.0 %   - latency 6.0 %   h host 9.0 %\n"
      "            . idle 20.0 %\n"
      "steps       4 in all, 0.500 decoding requests on average, 2 at most\n"
      "            prefill: 2 in 50.0 ms\n"
      "            decode: 1 in 10.0 ms\n"
      "            mixed: 1 in 20.0 ms\n"
      "KV cache    21.6 % full while busy, 50.0 % at most, of 48 blocks\n"
      "waiting     0.300 requests on average, 2 at most\n"
      "cost        $3.60/h   $14.3 per million output tokens\n"
      "            $0.272 per million tokens with input\n"
      "            $0.025 per 1,000 requests\n";
  CHECK(terminal_summary(report_of_four(), false, 72) == expected);
  CHECK(terminal_summary(report_of_four(), false, 10) == expected);
}

/// The four requests with intervals of some of their figures.
Report report_with_intervals() {
  Report report = report_of_four();
  Uncertainty uncertainty;
  uncertainty.runs = 16;
  uncertainty.replayed_requests = 64;
  uncertainty.simulated_steps = 12345;
  uncertainty.intervals = {{"request_throughput", 39, 41.5},  {"output_throughput", 68, 72},
                           {"request_goodput", 10, 30},       {"mean_ttft_ms", 29.04, 31},
                           {"p50_ttft_ms", 29, 31.5},         {"p95_ttft_ms", 38, 39},
                           {"p99_ttft_ms", 39.4, 1234},       {"capacity_requests_per_s", 9.5, 10},
                           {"joules_per_output_token", 1, 2}, {"output_dollars_per_million_tokens", 14, 15}};
  report.uncertainty = uncertainty;
  return report;
}

TEST_CASE("intervals stand beside figures and below latencies") {
  const std::string text = terminal_summary(report_with_intervals(), false, 100);
  CHECK(contains(
      text, "throughput  40.0 req/s (39.0-41.5)   70.0 output tok/s (68.0-72.0)   3,670 tok/s with input\n"));
  CHECK(contains(text, "goodput     20.0 req/s (10.0-30.0)   50.0 % of"));
  CHECK(contains(text,
                 "  TTFT            30.0      30.0      37.0      38.5      39.7      40.0\n"
                 "       5 %        29.0      29.0         -      38.0      39.4\n"
                 "      95 %        31.0      31.5         -      39.0     1,234\n"
                 "  ITL             13.3"));
  CHECK(contains(text, "$14.3 per million output tokens (14.0-15.0)"));
  CHECK(contains(text,
                 "intervals   5 to 95 % of 16 runs with kernels as far off as on shapes left out of the fit; "
                 "64\n            requests replayed in 12,345 steps\n"));
}

TEST_CASE("colour changes nothing but colour") {
  const Report report = report_of_four();
  const std::string coloured = terminal_summary(report, true, 90);
  CHECK(contains(coloured, "\x1b[1;31mMISSED by 10.0 %\x1b[0m"));
  CHECK(contains(coloured, "\x1b[32mmet with 20.6 % to spare\x1b[0m"));
  CHECK(without_colour(coloured) == terminal_summary(report, false, 90));
}

TEST_CASE("an unstable queue is named, and its latencies are marked as no steady state") {
  Report report = report_of_four();
  CHECK_FALSE(contains(terminal_summary(report, false, 100), "*"));
  report.summary.stability.verdict = QueueStability::unstable;
  report.summary.stability.sentence = "it grew";
  report.summary.stability.offered_per_second = 12;
  report.summary.stability.load = 1.25;
  const std::string text = terminal_summary(report, false, 100);
  CHECK(
      contains(text, "unstable: it grew; offered 12.0 req/s, 125 % of the estimated capacity of 9.60 req/s"));
  CHECK(contains(text, "  TTFT            30.0      30.0      37.0      38.5      39.7      40.0 *\n"));
  CHECK(contains(text, "  TPOT            12.5      12.5      14.5      14.8      14.9      15.0\n"));
  CHECK(contains(text, "* no steady state"));
  report.summary.stability.is_without_caches = true;
  CHECK(contains(terminal_summary(report, false, 200),
                 "of the estimated capacity of 9.60 req/s, if no prompt were found in a cache\n"));
}

TEST_CASE("latencies of weeks stay apart") {
  Report report = report_of_four();
  report.summary.ttft->p99_ms = 214'294'454;  // 59 hours: as many places as a cell has, and one more
  report.summary.ttft->max_ms = 1'000'000'000;
  CHECK(contains(terminal_summary(report, false, 100), " 214,294,454 1,000,000,000\n"));
}

TEST_CASE("what went wrong is on top") {
  Report report = report_of_four();
  report.setup = "a model on 2 x a GPU, a policy";
  report.summary.partial = true;
  report.summary.rejections = {{"the prompt is too long", 1234}};
  report.summary.truncated = 5;
  report.notes = {"max_model_len cut to 8192"};
  const std::string text = terminal_summary(report, false, 100);
  CHECK(contains(text, "simulated time\na model on 2 x a GPU, a policy\nPARTIAL: interrupted"));
  CHECK(contains(text, "1,234 rejected: the prompt is too long\n5 outputs cut short by max_model_len\n"));
  CHECK(contains(text, "note        max_model_len cut to 8192\n"));
}

TEST_CASE("a run in which nothing finished has a summary") {
  const std::string text = terminal_summary(Report(), false, 100);
  CHECK(contains(text, "no request finished"));
  CHECK_FALSE(contains(text, "nan"));
}

TEST_CASE("no line passes the width or ends in a space") {
  for (const int width : {72, 100, 140}) {
    std::istringstream lines(terminal_summary(report_of_four(), false, width) +
                             terminal_summary(report_with_intervals(), false, width));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= static_cast<std::size_t>(width));
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("numbers with three digits that matter") {
  CHECK(short_number(0) == "0.00");
  CHECK(short_number(0.1234) == "0.123");
  CHECK(short_number(0.9996) == "1.00");
  CHECK(short_number(1.005) == "1.00");  // 1.005 is a little less in binary
  CHECK(short_number(9.996) == "10.0");
  CHECK(short_number(12.34) == "12.3");
  CHECK(short_number(99.96) == "100");
  CHECK(short_number(999.6) == "1,000");
  CHECK(short_number(1234567) == "1,234,567");
  CHECK(short_number(-12.34) == "-12.3");
}

TEST_CASE("digits are grouped by three") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(-999) == "-999");
}

TEST_CASE("durations come in the unit that suits them") {
  CHECK(short_duration(0) == "0.00 ms");
  CHECK(short_duration(0.0123) == "12.3 us");
  CHECK(short_duration(1) == "1.00 ms");
  CHECK(short_duration(999.4) == "999 ms");
  CHECK(short_duration(1500) == "1.50 s");
  CHECK(short_duration(3'600'000) == "3,600 s");
}

TEST_CASE("lines break where the next item would pass the width") {
  CHECK(wrapped("one two three", 2, 9) == "one two\n  three");  // 2 + 7 = 9
  CHECK(wrapped("one two three", 2, 8) == "one\n  two\n  three");
  CHECK(wrapped("unbreakable", 2, 5) == "unbreakable");
  CHECK(wrapped("", 2, 5).empty());
  CHECK(joined({"a b", "c d"}, "   ", 0, 9) == "a b   c d");
  CHECK(joined({"a b", "c d"}, "   ", 0, 8) == "a b\nc d");
}

TEST_CASE("a bar's rounding errors do not add up") {
  // Ends at 3.33, 6.67 and 10 of 10.
  CHECK(stacked_bar({{'a', 1.0 / 3}, {'b', 1.0 / 3}, {'c', 1.0 / 3}}, 10) == "aaabbbbccc");
  CHECK(stacked_bar({{'a', 0.5}}, 6) == "aaa   ");
  CHECK(stacked_bar({}, 3) == "   ");
}

}  // namespace
}  // namespace inferometer
