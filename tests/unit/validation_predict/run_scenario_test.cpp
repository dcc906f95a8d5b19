#include "sim/validation/predict/run_scenario.hpp"

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

PredictionBase base_of(const std::string& text, std::vector<std::string> assignments = {}) {
  return {read_yaml_text(text, "base.yaml"), "base.yaml", std::move(assignments)};
}

MeasuredRun recorded_run() {
  MeasuredRun run;
  run.name = "r";
  run.source = "it's/requests.csv:2";
  run.settings = {"model=llama-3-8b", "hardware.gpu=h100-sxm"};
  run.requests = {{2.5, 20, 4, {}, {}, {}}, {0.25, 10, 3, {}, {}, {}}};
  return run;
}

TEST_CASE("the run lies over the base, and what the user sets over the run") {
  MeasuredRun run;
  run.source = "runs.csv:7";
  run.settings = {"engine.max_num_seqs=32", "engine.max_num_batched_tokens=1024",
                  "workload={generator: closed_loop, clients: 2, requests: 4, prompt: {distribution: fixed, "
                  "tokens: 5}, output: {distribution: fixed, tokens: 6}}"};
  const PredictionBase base = base_of(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {max_num_seqs: 16, block_size: 32}\nworkload: "
      "{preset: sharegpt, rate: 1 req/s}\n",
      {"engine.max_num_batched_tokens=512"});
  std::vector<std::string> notes;
  const Scenario scenario = scenario_of(run, base, layered_settings(run, base, notes));
  CHECK(scenario.engine().count("block_size") == 32);
  CHECK(scenario.engine().count("max_num_seqs") == 32);
  CHECK(scenario.engine().count("max_num_batched_tokens") == 512);
  CHECK(scenario.workload().count("clients") == 2);
  CHECK(!scenario.workload().has("preset"));
  CHECK(!scenario.listed_requests);
}

TEST_CASE("recorded requests are replayed in order of arrival, at their times") {
  const MeasuredRun run = recorded_run();
  std::vector<std::string> notes;
  const PredictionBase base = read_prediction_base("", {});
  const Scenario scenario = scenario_of(run, base, layered_settings(run, base, notes));
  REQUIRE(scenario.listed_requests);
  const std::vector<Request>& requests = *scenario.listed_requests;
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].id == 0);
  CHECK(requests[0].arrival == TimePoint(milliseconds(250)));
  CHECK(requests[0].prompt.count() == 10);
  CHECK(requests[0].output.count() == 3);
  CHECK(requests[0].max_new.count() == 3);
  CHECK(requests[1].id == 1);
  CHECK(requests[1].arrival == TimePoint(milliseconds(2500)));
  CHECK(requests[1].prompt.count() == 20);
  CHECK(scenario.workload().text("trace") == "it's/requests.csv");
}

TEST_CASE("recorded requests are not changed by keys of a trace") {
  const MeasuredRun run = recorded_run();
  const PredictionBase base = read_prediction_base("", {"workload.rate_scale=2"});
  std::vector<std::string> notes;
  const std::vector<std::string> settings = layered_settings(run, base, notes);
  CHECK_THROWS_WITH(scenario_of(run, base, settings),
                    "--set workload.rate_scale=2: workload.rate_scale would change requests that were "
                    "recorded; they are replayed as they came");
}

TEST_CASE("what a run does not say is missing at its place") {
  MeasuredRun run = recorded_run();
  run.settings = {"model=llama-3-8b"};
  const PredictionBase base = read_prediction_base("", {});
  std::vector<std::string> notes;
  const std::vector<std::string> settings = layered_settings(run, base, notes);
  std::string message;
  try {
    scenario_of(run, base, settings);
  } catch (const ConfigError& mistake) {
    message = mistake.what();
  }
  check_says(message, {"it's/requests.csv:2: ", "hardware"});
}

}  // namespace
}  // namespace inferometer
