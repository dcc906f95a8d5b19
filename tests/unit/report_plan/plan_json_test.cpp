#include "sim/report/plan/plan_json.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/report_plan/sample_plan.hpp"

using namespace inferometer;
using namespace inferometer::test;
using Json = nlohmann::json;

namespace {

Json json_of(const PlanResult& plan) {
  return Json::parse(plan_json(plan, provenance_of("capacity.yaml")));
}

/// What holds of every plan.
void check_adds_up(const PlanResult& plan) {
  const std::string text = plan_json(plan, provenance_of("capacity.yaml"));
  CHECK(text == plan_json(plan, provenance_of("capacity.yaml")));
  CHECK(text.back() == '\n');
  const Json json = Json::parse(text);
  std::size_t by_fate = 0;
  for (const auto& [fate, number] : json["counts"]["shapes_by_fate"].items()) {
    by_fate += number.get<std::size_t>();
  }
  CHECK(by_fate == plan.shapes.size());
  CHECK(json["counts"]["shapes"] == plan.shapes.size());
  CHECK(json["shapes"].size() == plan.shapes.size());
  for (const Json& place : json["front"]) {
    const Json& size = json["shapes"][place["shape"].get<std::size_t>()]["assessments"]
                           [place["assessment"].get<std::size_t>()]["size"];
    CHECK(size["cost"] == place["cost"]);
  }
  CHECK(json["answer"].is_null() == !plan.best.has_value());
}

}  // namespace

TEST_CASE("plan.json has the answer with its size and targets and sustained rate") {
  const Json answer = json_of(plan_with_answer())["answer"];
  CHECK(answer["shape"] == 1);
  CHECK(answer["assessment"] == 1);
  CHECK(answer["setup"] == "3 x (1 x h100-sxm)");
  CHECK(answer["size"]["units"] == 3);
  CHECK(answer["size"]["gpus"] == 3);
  CHECK(answer["size"]["dollars_per_hour"].get<double>() == Approx(8.97));
  CHECK(answer["size"]["power_watts"] == 2100);
  CHECK(answer["dollars_per_month"].get<double>() == Approx(6548.1));  // 730 x 8.97
  CHECK(answer["targets"].size() == 2);
  CHECK(answer["targets"][0]["mean"] == 612);
  CHECK(answer["targets"][0]["low"] == 598);
  CHECK(answer["targets"][0]["over_share"].get<double>() == Approx(-0.235));
  CHECK(answer["headroom_share"].get<double>() == Approx(14.2 / 12 - 1));
}

TEST_CASE("plan.json has every shape with its fate and what was run of it") {
  const Json json = json_of(plan_with_answer());
  const Json& h100 = json["shapes"][1];
  CHECK(h100["values"]["max_num_batched_tokens"] == "1024");
  CHECK(h100["fate"] == "meets");
  CHECK(h100["least_units"] == 2);
  CHECK(h100["smallest"] == 1);
  CHECK(h100["assessments"][0]["verdict"] == "misses_slo");
  CHECK(h100["assessments"][1]["metrics"]["p99_ttft_ms"] == 612);
  CHECK_FALSE(h100["assessments"][1]["metrics"].contains("preemptions"));
  CHECK(h100["sustained"]["units"] == 3);
  CHECK(h100["sustained"]["low_requests_per_s"] == 14.2);
  CHECK(h100["sustained"]["tried"].size() == 4);
  CHECK(h100["sustained"]["tried"][3]["verdict"] == "saturated");
  CHECK(h100["sustained"]["tried"][3]["p99_ttft_ms"] == 9000);
  CHECK(json["shapes"][5]["reason"] == "itl_p99 is at least 60 ms, limit 50 ms");
  CHECK(json["shapes"][5]["sustained"].is_null());
  CHECK(json["sensitivity"][0]["size"]["units"] == 2);
  CHECK(json["sensitivity"][1]["size"].is_null());
  CHECK(json["front"][0]["mean_power_watts"] == 0.75 * 2100);
}

TEST_CASE("plan.json says where it comes from") {
  const Json json = json_of(plan_with_answer());
  CHECK(json["schema_version"] == kPlanSchemaVersion);
  CHECK(json["program"]["version"] == "1.2.3");
  CHECK(json["study"] == "capacity.yaml");
  CHECK(json["inputs"][1]["hash"] == "sha256:fedcba9876543210");
  CHECK(json["resolved_study"]["seeds"] == 3);
  CHECK(json["notes"][0] == "max_model_len cut to 8192");
}

TEST_CASE("plan.json of a plan without an answer names what comes nearest") {
  const Json json = json_of(plan_without_answer());
  CHECK(json["answer"].is_null());
  CHECK(json["nearest"]["shape"] == 1);
  CHECK(json["nearest"]["size"]["units"] == 2);
  CHECK(json_of(plan_proven_out())["nearest"].is_null());
}

TEST_CASE("plan.json adds up whatever the plan found") {
  check_adds_up(plan_with_answer());
  check_adds_up(plan_without_answer());
  check_adds_up(plan_proven_out());
  check_adds_up(plan_of_single_shape());
  check_adds_up(plan_of_many(50));
  check_adds_up(PlanResult());
}

TEST_CASE("what a run had no value for is null in plan.json") {
  PlanResult plan = plan_of_single_shape();
  plan.shapes[0].assessments[0].targets[0] = {"ttft_p99", 800, {}, {}, {}, false, {}, false};
  plan.shapes[0].assessments[0].means = {{"p99_ttft_ms", std::nullopt}};
  const Json json = json_of(plan);
  const Json& assessment = json["shapes"][0]["assessments"][0];
  CHECK(assessment["targets"][0]["mean"].is_null());
  CHECK(assessment["targets"][0]["over_share"].is_null());
  CHECK(assessment["metrics"]["p99_ttft_ms"].is_null());
  CHECK(json["answer"]["headroom_share"].is_null());
  CHECK(json["front"][0]["p99_ttft_ms"].is_null());
}
