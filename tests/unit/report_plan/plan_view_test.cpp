#include "sim/report/plan/plan_view.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/report_plan/sample_plan.hpp"

using namespace inferometer;
using namespace inferometer::test;

namespace {

bool says(const std::vector<Caveat>& caveats, const std::string& part, bool is_warning) {
  for (const Caveat& caveat : caveats) {
    if (caveat.sentence.find(part) != std::string::npos) {
      return caveat.is_warning == is_warning;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("shapes that meet come by cost, the others by how near they came") {
  const PlanResult plan = plan_with_answer();
  // 3 x $2.99 = $8.97 before 8 x $1.50 = $12.
  CHECK(shapes_that_meet(plan) == std::vector<std::size_t>{1, 0});
  CHECK(sized_shapes(plan) == std::vector<std::size_t>{1, 0, 3, 2});
  const std::vector<FateGroup> others = shapes_that_do_not(plan);
  REQUIRE(others.size() == 6);
  CHECK(others[0].fate == ShapeFate::none_meets);
  CHECK(others[1].fate == ShapeFate::dearer);
  CHECK(others[5].shapes == std::vector<std::size_t>{7});
  CHECK(*answer_place(plan) == AssessmentPlace{1, 1});
  CHECK(json_path(*answer_place(plan)) == "shapes.1.assessments.1");
}

TEST_CASE("of those that cost as much the answer comes first") {
  PlanResult plan = plan_with_answer();
  plan.shapes[0].assessments[0].size.cost = plan.shapes[1].assessments[1].size.cost;
  CHECK(shapes_that_meet(plan) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("nearest comes what keeps up with the traffic and misses by least") {
  PlanResult plan = plan_without_answer();
  // 912 ms of 800 (14 %) before 1,200 ms (50 %).
  CHECK(*nearest_miss(plan) == AssessmentPlace{1, 0});
  // A queue that grows is farther away, however short its latencies in this run.
  plan.shapes[2].assessments[0].targets[0] = ttft_of(810, 800, 820);
  CHECK(*nearest_miss(plan) == AssessmentPlace{1, 0});
  // Of two that miss by as much the cheaper one: 4 x $0.80 < 2 x $2.99.
  plan.shapes[3].assessments[0].targets = plan.shapes[1].assessments[0].targets;
  CHECK(*nearest_miss(plan) == AssessmentPlace{3, 0});
  CHECK_FALSE(nearest_miss(plan_proven_out()));
}

TEST_CASE("a size that was run only to compare it does not stand for its shape") {
  PlanResult plan = plan_with_answer();
  plan.shapes[4].assessments = {assessed(size_of_units(3, 1, 3.67, 700), 400, 390, 410)};
  CHECK_FALSE(shown_place(plan, 4));
  // Sized in vain up to 1 unit; 3 units do, and cost more than the answer.
  plan.shapes[2].assessments.push_back(assessed(size_of_units(3, 2, 5.98, 1400), 400, 390, 410));
  CHECK(*shown_place(plan, 2) == AssessmentPlace{2, 0});
}

TEST_CASE("close calls that could change the answer are warnings") {
  PlanResult plan = plan_with_answer();
  CHECK(close_calls(plan).empty());
  // Dearer than the answer and close: no matter. Cheaper, keeps up, and close: it might be the answer.
  plan.shapes[0].assessments[0].targets[0] = ttft_of(790, 770, 810);
  plan.shapes[1].assessments[0].targets[0] = ttft_of(805, 790, 820);
  std::vector<CloseCall> calls = close_calls(plan);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].place == AssessmentPlace{1, 0});
  CHECK(calls[0].matters);
  CHECK_FALSE(calls[1].matters);
  CHECK(says(caveats(plan), "close call: 2 units of h100-sxm, tensor_parallel 1: p99 TTFT 805 ms (790-820)",
             true));
  CHECK(says(caveats(plan), "1 more size has a limit", false));
  plan.shapes[1].assessments[1].targets[0] = ttft_of(799, 780, 818);
  calls = close_calls(plan);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].place == AssessmentPlace{1, 1});
}

TEST_CASE("extrapolation and seeds and growth are told") {
  PlanResult plan = plan_with_answer();
  CHECK(says(caveats(plan), "means over 3 seeds", false));
  CHECK_FALSE(says(caveats(plan), "outside of what was measured", true));
  plan.shapes[1].assessments[1].extrapolated_share = 0.073;
  plan.growth = 1.5;
  plan.seeds = 1;
  CHECK(says(caveats(plan), "7.30 % of the time in steps of the answer went to kernels outside", true));
  CHECK(says(caveats(plan), "1.50 times the traffic", false));
  CHECK(says(caveats(plan), "one seed", false));
  CHECK(says(caveats(plan), "never make it worse is assumed", false));
}

TEST_CASE("short names are made of what shapes differ in") {
  const PlanResult plan = plan_with_answer();
  const std::vector<std::string> keys = keys_that_vary(plan);
  CHECK(keys == std::vector<std::string>{"gpu", "tensor_parallel"});
  CHECK(short_name(plan.shapes[2], 1, keys) == "1 x h100-sxm / 2");
  CHECK(short_name(plan.shapes[2], 1, {}) == "1 x h100-sxm, tensor_parallel 2");
  CHECK(keys_that_vary(plan_of_single_shape()).empty());
}
