// Methods as vLLM's SpeculativeConfig names them; without one it goes by the model's name.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/engine_arguments/setting_tree.hpp"
#include "sim/engine_arguments/vllm_command.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

const std::string kScenario =
    "model: llama-3.1-70b\n"
    "hardware: {gpu: h100-sxm, tensor_parallel: 4}\n"
    "workload: {preset: azure-conversation, rate: 3 req/s, requests: 100}\n";

ScenarioLayer layer(const std::string& arguments) {
  return vllm_layer(arguments, read_yaml_text(kScenario, "below.yaml"));
}

std::string set(const std::string& config, const std::string& key) {
  return text_at(layer("--speculative-config '" + config + "'").tree, "engine.speculation." + key)
      .value_or("");
}

TEST_CASE("who drafts, and how many tokens") {
  const std::string ngram = R"({"method":"ngram","num_speculative_tokens":5,"prompt_lookup_max":4})";
  CHECK(set(ngram, "method") == "ngram");
  CHECK(set(ngram, "num_speculative_tokens") == "5");
  CHECK(set(R"({"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"})", "method") == "eagle");
  CHECK(set(R"({"model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"})", "method") == "eagle");
  CHECK(set(R"({"method": "deepseek_mtp"})", "method") == "mtp");
  const std::string draft = R"({"model": "meta-llama/Llama-3.2-1B-Instruct", "num_speculative_tokens": 3,
                                "disable_by_batch_size": 64})";
  CHECK(set(draft, "method") == "draft_model");
  CHECK(set(draft, "model") == "llama-3.2-1b");
  CHECK(set(draft, "disable_by_batch_size") == "64");
}

TEST_CASE("key by key, and as versions before 0.9 wrote it") {
  const ConfigNode keys =
      layer("--speculative-config.method ngram --speculative-config.num_speculative_tokens 4").tree;
  CHECK(text_at(keys, "engine.speculation.method") == "ngram");
  CHECK(text_at(keys, "engine.speculation.num_speculative_tokens") == "4");
  for (const std::string arguments : {"--speculative-model [ngram] --num-speculative-tokens 4",
                                      "--num-speculative-tokens 4 --speculative-model [ngram]"}) {
    INFO(arguments);
    const ScenarioLayer single = layer(arguments);
    CHECK(text_at(single.tree, "engine.speculation.method") == "ngram");
    CHECK(text_at(single.tree, "engine.speculation.num_speculative_tokens") == "4");
    CHECK(single.notes.size() == 1);
  }
}

TEST_CASE("what is not modelled of it is said, and so is what vLLM does not say") {
  const ScenarioLayer medusa = layer(R"(--speculative-config '{"method": "medusa", "model": "m"}')");
  CHECK(medusa.tree.entries.empty());
  REQUIRE(medusa.notes.size() == 1);
  check_says(medusa.notes.front(), {"--speculative-config", "medusa"});
  const ScenarioLayer drafts =
      layer(R"(--speculative-config '{"method": "ngram", "draft_tensor_parallel_size": 1}')");
  REQUIRE(drafts.notes.size() == 2);
  check_says(drafts.notes[0], {"draft_tensor_parallel_size"});
  check_says(drafts.notes[1], {"engine.speculation.acceptance"});
}

TEST_CASE("acceptance comes from the scenario or from --set, and is asked for where it is missing") {
  ScenarioOverrides overrides;
  overrides.engine_command = [](const ConfigNode& below) {
    return vllm_layer(R"(--speculative-config '{"method": "ngram", "num_speculative_tokens": 4}')", below);
  };
  overrides.assignments = {"engine.speculation.acceptance=0.6"};
  const Scenario scenario = load_scenario_text(kScenario, "below.yaml", overrides);
  CHECK(scenario.engine().section("speculation").count("num_speculative_tokens") == 4);
  overrides.assignments.clear();
  try {
    load_scenario_text(kScenario, "below.yaml", overrides);
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"--vllm-args:1:22: ", "acceptance"});
  }
}

TEST_CASE("a configuration that names nobody is a mistake") {
  for (const std::string arguments : {"--speculative-config '{\"num_speculative_tokens\": 4}'",
                                      "--speculative-config 4", "--num-speculative-tokens 4"}) {
    INFO(arguments);
    CHECK_THROWS_AS(layer(arguments), ConfigError);
  }
}

}  // namespace
}  // namespace inferometer
