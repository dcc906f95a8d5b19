#include "sim/report/plan/plan_text.hpp"

#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/report_plan/sample_plan.hpp"

using namespace inferometer;
using namespace inferometer::test;

namespace {

std::string text_of(const PlanResult& plan) {
  return plan_text(plan, provenance_of("capacity.yaml"), false);
}

/// With one blank for any white space, so that it does not matter where lines break.
std::string words_of(const PlanResult& plan) {
  std::istringstream text(text_of(plan));
  std::string words, word;
  while (text >> word) {
    words += word + " ";
  }
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("a plan's text begins with what to buy") {
  check_says(words_of(plan_with_answer()),
             {"capacity.yaml: llama-3-8b, 12 req/s Buy 3 x (1 x h100-sxm) with policy chunked_prefill, "
              "max_num_batched_tokens 1024: $8.97/h ($6,548 a month), 3 GPUs, 2.10 kW. p99 TTFT 612 ms "
              "(598-626) of 800 ms, 23.5 % to spare and more at the other limits. It sustains 14.2-14.5 "
              "req/s, 18.3 % above the traffic of 12.0 req/s. Beyond that: ttft_p99 is 820 ms",
              "Next in cost: 8 x (1 x a100-80gb-sxm), $12.00/h (33.8 % more)."});
}

TEST_CASE("a plan's text lists shapes by cost and then why not the others") {
  const std::string text = words_of(plan_with_answer());
  check_says(
      text,
      {"2 met the SLO; the smallest size of each that does h100-sxm, tensor_parallel 1 3 3 8.97 2.10 kW p99 "
       "TTFT 612 of 800 ms 14.2-14.5 a100-80gb-sxm, tensor_parallel 1 8 8 12.00 3.20 kW p99 "
       "TTFT 500 of 800 ms",
       "1 missed the SLO up to the largest size allowed l40s, tensor_parallel 1 4 4 3.20 1.40 kW "
       "p99 TTFT 1.20 s of 800 ms",
       "h100-sxm, tensor_parallel 2 1 2 5.98 1.40 kW p99 TTFT 5.00 s of 800 ms *", "* the queue grew",
       "1 proven to cost no less than the answer: h200-sxm, tensor_parallel 1 (needs at least 3 units for "
       "$11.00/h)",
       "1 proven to miss the SLO at any size: l4, tensor_parallel 1 (itl_p99 is at least 60 ms",
       "64 sizes of 8 shapes; 24 runs told them apart",
       "units 2 instead of 3: ttft_p99 is over the limit; costs 33.3 % less",
       "front: nothing that was simulated beats these in cost, p99 TTFT and power at once $8.97/h: "
       "612 ms, 1.57 kW, 3 x h100-sxm, tensor_parallel 1",
       "note max_model_len cut to 8192"});
}

TEST_CASE("without an answer the text says what comes nearest and how far off it is") {
  const std::string text = words_of(plan_without_answer());
  check_says(text,
             {"No candidate meets the SLO. Nearest comes 2 x (1 x h100-sxm) with policy chunked_prefill, "
              "max_num_batched_tokens 1024: $5.98/h ($4,365 a month), 2 GPUs, 1.40 kW. p99 TTFT 912 ms "
              "(880-944) of 800 ms, 14.0 % too much."});
  CHECK(text.find("Buy") == std::string::npos);
}

TEST_CASE("a queue that grows is why the nearest misses") {
  PlanResult plan = plan_without_answer();
  plan.shapes[1].assessments = {saturated(size_of_units(2, 1, 2.99, 700), 700)};
  plan.shapes[3].assessments.clear();
  check_says(words_of(plan), {"Nearest comes 2 x (1 x h100-sxm)",
                              "It is saturated: the queue grows; offered 130 % of the capacity."});
}

TEST_CASE("where bounds alone decide the text says which") {
  check_says(
      words_of(plan_proven_out()),
      {"No candidate meets the SLO. None had to be run: 2 of 2 shapes proven to miss the SLO at any size. "
       "l4, tensor_parallel 1: itl_p99 is at least 60 ms, limit 50 ms.",
       "2 proven to miss the SLO at any size: l4, tensor_parallel 1; a10g, tensor_parallel 1 (the first: "
       "itl_p99 is at least 60 ms"});
  check_says(words_of(PlanResult()), {"No candidate meets the SLO. There is no candidate."});
}

TEST_CASE("a single shape without price and rate and seeds is told in few words") {
  const std::string text = words_of(plan_of_single_shape());
  // 0.995 / 0.99 - 1 = 0.505 %
  check_says(text,
             {"Buy 2 x (1 x my-gpu): 2 GPUs, no price, 600 W. goodput 99.5 % of at least 99.0 %, 0.505 % to "
              "spare.",
              "the base 2 2 - 600 W goodput 99.5 of 99.0 %", "one seed"});
  CHECK(text.find("sustains") == std::string::npos);
  CHECK(text.find("front") == std::string::npos);
  CHECK(text.find("Next") == std::string::npos);
}

TEST_CASE("a close call stands beside the answer and among the notes") {
  PlanResult plan = plan_with_answer();
  plan.shapes[1].assessments[1].targets[0] = ttft_of(795, 780, 810);
  check_says(words_of(plan), {"p99 TTFT 795 ms (780-810) of 800 ms, 0.625 % to spare and more at the other "
                              "limits, too close to call.",
                              "note close call: 3 units of h100-sxm, tensor_parallel 1"});
}

TEST_CASE("a plan of many shapes stays a screen long and counts the rest") {
  const std::string text = text_of(plan_of_many(200));
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines.size() < 75);
  // Of 200, 50 meet with the answer, 50 were sized in vain, 100 were proven to cost more.
  check_says(text, {"50 met the SLO", "  and 38 more", "50 missed the SLO at every size", "  and 42 more",
                    "100 proven to cost no less than the answer", "; and 97 more"});
}

TEST_CASE("lines of a plan's text end within 100 characters and without blanks") {
  for (const PlanResult& plan : {plan_with_answer(), plan_without_answer(), plan_proven_out(),
                                 plan_of_single_shape(), plan_of_many(40), PlanResult()}) {
    for (const std::string& line : lines_of(text_of(plan))) {
      INFO(line);
      CHECK(line.size() <= 100);
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("colours of a plan's text change nothing else") {
  std::string coloured = plan_text(plan_with_answer(), provenance_of("capacity.yaml"), true);
  CHECK(coloured.find("\x1b[32m") != std::string::npos);
  for (std::size_t at = 0; (at = coloured.find("\x1b[")) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  CHECK(coloured == text_of(plan_with_answer()));
}
