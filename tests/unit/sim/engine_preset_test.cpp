// Presets of engines below scenarios. Expected values: the engines' own defaults, part 1.1.4 of the
// specification for vLLM and the argument tables of SGLang and TensorRT-LLM.

#include "sim/scheduler/engine_preset.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/scenario/deployment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

constexpr const char* kTraffic = "workload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n";

Scenario scenario_with(const std::string& preset, const std::string& gpu,
                       const std::vector<std::string>& changes = {}) {
  const std::string text =
      "model: llama-3-8b\nhardware: {gpu: " + gpu + "}\nengine: {preset: " + preset + "}\n" + kTraffic;
  return load_scenario_text(text, "a.yaml", {changes, {}});
}

/// Prefill and decode apart, each on a GPU of its own.
Scenario two_pools(const std::string& prefill, const std::string& decode) {
  return load_scenario_text(std::string("model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
                                        "engine: {policy: disaggregated, preset: vllm-0.15}\n"
                                        "cluster: {pools: {prefill: ") +
                                prefill + ", decode: " + decode + "}}\n" + kTraffic,
                            "a.yaml");
}

bool says_preset(const std::vector<std::string>& notes) {
  return std::any_of(notes.begin(), notes.end(),
                     [](const std::string& note) { return note.find("preset") != std::string::npos; });
}

}  // namespace

TEST_CASE("every shipped preset makes an engine, and none of its keys is left out") {
  const std::vector<std::string> names = engine_preset_names();
  CHECK(names == std::vector<std::string>{"sglang-0.5", "trtllm-0.17", "trtllm-1.0", "vllm-0.11", "vllm-0.15",
                                          "vllm-0.22", "vllm-0.6", "vllm-0.8"});
  for (const std::string& name : names) {
    const EnginePreset preset = load_engine_preset(name);
    CHECK(preset.name == name);
    CHECK(preset.released.size() == 7);  // "2026-01"
    for (const char* gpu : {"h100-sxm", "a100-80gb-sxm", "l40s", "b200-sxm"}) {
      CAPTURE(name, gpu);
      const Scenario scenario = scenario_with(name, gpu);
      CHECK_FALSE(says_preset(scenario.notes));
      CHECK(make_deployment(scenario).front().limits.total_blocks > 0);
      // What holds for this GPU is what the engine has: of several for one key the last.
      for (auto setting = preset.settings.rbegin(); setting != preset.settings.rend(); ++setting) {
        const bool is_first = std::none_of(preset.settings.rbegin(), setting, [&](const auto& later) {
          return later.key == setting->key && later.holds_on(scenario.gpu);
        });
        if (is_first && setting->holds_on(scenario.gpu)) {
          CAPTURE(setting->key);
          const std::size_t dot = setting->key.find('.');
          const Values& section = scenario.values.section(setting->key.substr(0, dot));
          CHECK(section.given(setting->key.substr(dot + 1)));
        }
      }
    }
  }
}

TEST_CASE("vLLM's batches by version and GPU") {
  struct Known {
    const char *preset, *gpu;
    std::int64_t tokens, seqs;
  };
  // 70 GiB and more but the A100: 8192 and 1024 (256 before that change); others 2048 and 256.
  for (const Known& known :
       {Known{"vllm-0.15", "h100-sxm", 8192, 1024}, Known{"vllm-0.15", "h200-sxm", 8192, 1024},
        Known{"vllm-0.15", "mi300x", 8192, 1024}, Known{"vllm-0.15", "a100-80gb-sxm", 2048, 256},
        Known{"vllm-0.15", "l40s", 2048, 256}, Known{"vllm-0.11", "h100-sxm", 8192, 1024},
        Known{"vllm-0.11", "a100-80gb-sxm", 2048, 256}, Known{"vllm-0.8", "h100-sxm", 8192, 256},
        Known{"vllm-0.8", "a100-80gb-sxm", 2048, 256}, Known{"vllm-0.8", "l40s", 2048, 256},
        Known{"vllm-0.22", "h100-sxm", 8192, 1024}, Known{"vllm-0.22", "a100-80gb-sxm", 2048, 256}}) {
    CAPTURE(known.preset, known.gpu);
    const Scenario scenario = scenario_with(known.preset, known.gpu);
    CHECK(scenario.engine().count("max_num_batched_tokens") == known.tokens);
    CHECK(scenario.engine().count("max_num_seqs") == known.seqs);
    CHECK(scenario.engine().count("block_size") == 16);
    CHECK(scenario.engine().text("policy") == "chunked_prefill");
    CHECK(scenario.engine().text("kv_memory") == "vllm");
    CHECK(scenario.engine().flag("enable_prefix_caching"));
  }
}

TEST_CASE("what vLLM changed from version to version") {
  const auto engine = [](const char* preset) { return scenario_with(preset, "h100-sxm").engine(); };
  CHECK(engine("vllm-0.6").text("policy") == "continuous");  // V0: prompts in steps of their own
  CHECK(engine("vllm-0.6").number("watermark") == 0.01);
  CHECK_FALSE(engine("vllm-0.11").flag("async_scheduling"));
  CHECK(engine("vllm-0.15").flag("async_scheduling"));
  CHECK(engine("vllm-0.15").number("gpu_memory_utilization") == 0.9);
  CHECK(engine("vllm-0.15").text("admission") == "first_chunk");
  CHECK(engine("vllm-0.22").number("gpu_memory_utilization") == 0.92);
  CHECK(engine("vllm-0.22").text("admission") == "full_isl");
  CHECK(make_deployment(scenario_with("vllm-0.15", "h100-sxm")).front().replica.plans_ahead);
  CHECK_FALSE(make_deployment(scenario_with("vllm-0.11", "h100-sxm")).front().replica.plans_ahead);
}

TEST_CASE("SGLang's chunks grow with the GPU's memory") {
  struct Known {
    const char* gpu;
    std::int64_t chunk;
  };
  for (const Known& known :
       {Known{"l4", 2048}, Known{"a100-40gb-sxm", 4096}, Known{"l40s", 4096}, Known{"a100-80gb-sxm", 8192},
        Known{"h200-sxm", 8192}, Known{"b200-sxm", 16384}}) {
    CAPTURE(known.gpu);
    const Scenario scenario = scenario_with("sglang-0.5", known.gpu);
    CHECK(scenario.engine().count("chunked_prefill_size") == known.chunk);
    CHECK(scenario.engine().text("policy") == "sglang");
    CHECK(scenario.engine().text("kv_memory") == "sglang");
    CHECK(scenario.engine().count("block_size") == 1);
  }
}

TEST_CASE("TensorRT-LLM has kernels of its own") {
  for (const char* preset : {"trtllm-0.17", "trtllm-1.0"}) {
    const Scenario scenario = scenario_with(preset, "h100-sxm");
    CHECK(scenario.engine().text("policy") == "trtllm");
    CHECK(scenario.engine().text("kv_memory") == "trtllm");
    CHECK(scenario.values.section("cost_model").text("kernels") == "tensorrt-llm");
  }
  CHECK(scenario_with("trtllm-0.17", "h100-sxm").engine().count("block_size") == 64);
  CHECK_FALSE(scenario_with("trtllm-0.17", "h100-sxm").engine().flag("enable_block_reuse"));
  CHECK(scenario_with("trtllm-1.0", "h100-sxm").engine().count("block_size") == 32);
  CHECK(scenario_with("trtllm-1.0", "h100-sxm").engine().flag("enable_block_reuse"));
  // Measured kernels of the user's own are of no library.
  const Scenario own = load_scenario_text(
      std::string("model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {preset: trtllm-1.0}\n"
                  "cost_model: {kernel_profile: mine.yaml}\n") +
          kTraffic,
      "a.yaml");
  CHECK_FALSE(own.values.section("cost_model").given("kernels"));
}

TEST_CASE("what the scenario writes goes over the preset") {
  const Scenario scenario =
      scenario_with("vllm-0.15", "h100-sxm",
                    {"engine.max_num_seqs=7", "engine.async_scheduling=false", "cost_model.host_fixed=1 ms"});
  CHECK(scenario.engine().count("max_num_seqs") == 7);
  CHECK(scenario.engine().count("max_num_batched_tokens") == 8192);
  CHECK_FALSE(scenario.engine().flag("async_scheduling"));
  CHECK(scenario.values.section("cost_model").duration("host_fixed") == milliseconds(1));
  CHECK(scenario.values.section("cost_model").text("kernels") == "vllm");
  CHECK_FALSE(says_preset(scenario.notes));
}

TEST_CASE("another policy leaves out the preset's keys that it does not have, and a note says which") {
  const Scenario scenario = scenario_with("vllm-0.15", "h100-sxm", {"engine.policy=sglang"});
  CHECK(scenario.engine().text("policy") == "sglang");
  CHECK(scenario.engine().count("max_num_seqs") == 1024);  // which every policy has
  REQUIRE(scenario.notes.size() == 1);
  check_says(scenario.notes.front(), {"left out of preset vllm-0.15", "engine.max_num_batched_tokens",
                                      "engine.admission", "engine.enable_prefix_caching"});
  CHECK(scenario.notes.front().find("block_size") == std::string::npos);
}

TEST_CASE("each pool has the preset of its own GPU, for the policy of its engine") {
  const Scenario scenario = two_pools("{gpu: a100-80gb-sxm}", "{}");
  REQUIRE(scenario.pools.size() == 2);
  const Values &prefill = scenario.pools[0].engine, &decode = scenario.pools[1].engine;
  CHECK(prefill.count("max_num_batched_tokens") == 2048);
  CHECK(prefill.count("max_num_seqs") == 256);
  CHECK(decode.count("max_num_batched_tokens") == 8192);
  CHECK(decode.count("max_num_seqs") == 1024);
  CHECK(prefill.text("policy") == "chunked_prefill");
  CHECK(decode.text("policy") == "chunked_prefill");
  CHECK(make_deployment(scenario).pools.size() == 2);
}

TEST_CASE("the batch policy that is written for all pools goes over presets, a pool's own over that") {
  const auto pools = [](const std::string& engine, const std::string& prefill) {
    return load_scenario_text(
               "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: disaggregated, " + engine +
                   "}\ncluster: {pools: {prefill: " + prefill + ", decode: {}}}\n" + kTraffic,
               "a.yaml")
        .pools;
  };
  const auto written = pools("preset: vllm-0.15, batch_policy: sarathi, hop: 1 ms", "{gpu: a100-80gb-sxm}");
  CHECK(written[0].engine.text("policy") == "sarathi");
  CHECK(written[1].engine.text("policy") == "sarathi");
  CHECK(written[0].engine.count("max_num_seqs") == 256);
  const auto own =
      pools("preset: vllm-0.15, batch_policy: sarathi", "{gpu: a100-80gb-sxm, engine: {policy: continuous}}");
  CHECK(own[0].engine.text("policy") == "continuous");
  CHECK(own[1].engine.text("policy") == "sarathi");
  // With nothing written, each pool's policy is its preset's.
  const auto two = pools("preset: vllm-0.15", "{engine: {preset: vllm-0.6}}");
  CHECK(two[0].engine.text("policy") == "continuous");
  CHECK(two[1].engine.text("policy") == "chunked_prefill");
}

TEST_CASE("a pool may have a preset of its own, and keys over it") {
  const Scenario scenario = two_pools("{engine: {preset: vllm-0.22}}", "{engine: {max_num_seqs: 99}}");
  CHECK(scenario.pools[0].engine.number("gpu_memory_utilization") == 0.92);
  CHECK(scenario.pools[1].engine.number("gpu_memory_utilization") == 0.9);
  CHECK(scenario.pools[1].engine.count("max_num_seqs") == 99);
}

TEST_CASE("a preset's settings hold on GPUs as they say") {
  EnginePreset::Setting setting;
  CHECK(setting.condition().empty());
  setting.memory_from = Bytes(70) * (std::int64_t{1} << 30);
  setting.not_gpu = "a100";
  GpuSpec gpu = load_gpu("h100-sxm");
  gpu.hbm_usable = *setting.memory_from;
  CHECK(setting.holds_on(gpu));
  gpu.hbm_usable -= Bytes(1);
  CHECK_FALSE(setting.holds_on(gpu));
  gpu.hbm_usable += Bytes(1);
  gpu.name = "a100-80gb-sxm";
  CHECK_FALSE(setting.holds_on(gpu));
  check_says(setting.condition(), {"on GPUs of at least", "but not a100"});
}

TEST_CASE("the preset of vLLM 0.15 has the KV blocks that measured runs of it report") {
  std::ifstream input(INFEROMETER_SHARED_DATA "/measured/vllm_0.15.1_runs_shared.csv");
  if (!input) {
    std::cout << "skipped: no measured vLLM runs under " INFEROMETER_SHARED_DATA "\n";
    return;
  }
  const std::map<std::string, std::string> models = {
      {"meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"},
      {"mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-12b"}};
  std::map<std::string, int> seen;
  std::string line;
  std::getline(input, line);
  while (std::getline(input, line)) {
    // exp_id,dir,model,hardware,tp,max_num_seqs,max_num_batched_tokens,total_kv_blocks,...
    std::vector<std::string> cells;
    std::stringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) {
      cells.push_back(cell);
    }
    if (cells.size() < 8 || models.count(cells[2]) == 0 || cells[3] != "H100" || seen[cells[0]]++ > 0) {
      continue;
    }
    CAPTURE(line);
    const Deployment deployment = make_deployment(
        scenario_with("vllm-0.15", "h100-sxm",
                      {"model=" + models.at(cells[2]), "hardware.tensor_parallel=" + cells[4],
                       "engine.max_num_seqs=" + cells[5], "engine.max_num_batched_tokens=" + cells[6]}));
    const auto blocks = static_cast<double>(deployment.front().memory.blocks.count());
    CHECK(std::abs(blocks / std::stod(cells[7]) - 1) < 0.01);
  }
  CHECK(seen.size() >= 3);
}

TEST_CASE("a preset nobody knows is a mistake of the scenario") {
  try {
    scenario_with("vlm-0.15", "h100-sxm");
    FAIL("it was taken");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"engine.preset", "vlm-0.15", "did you mean \"vllm-0.15\"?"});
  }
}

TEST_CASE("descriptions name every preset and every source") {
  for (const std::string& name : engine_preset_names()) {
    CHECK(describe_engine_presets().find("\n" + name) != std::string::npos);
    for (const EnginePreset::Setting& setting : load_engine_preset(name).settings) {
      check_says(describe_engine_preset(name), {setting.key + ": " + setting.value, setting.source});
    }
  }
}

}  // namespace inferometer
