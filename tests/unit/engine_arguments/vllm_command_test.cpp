// Each flag that is modelled, with the key and the value that it must set: vLLM's documentation says what the
// flag means, the key tables what the key means.

#include "sim/engine_arguments/vllm_command.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sim/engine_arguments/engine_flag.hpp"
#include "sim/engine_arguments/setting_tree.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

const std::string kDense =
    "model: llama-3-8b\n"
    "hardware: {gpu: h100-sxm}\n"
    "workload: {preset: azure-conversation, rate: 3 req/s, requests: 100}\n";
const std::string kExperts = "model: deepseek-v3\nhardware: {gpu: h200-sxm, tensor_parallel: 2}\n";

ScenarioLayer layer(const std::string& arguments, const std::string& below = kDense) {
  return vllm_layer(arguments, read_yaml_text(below, "below.yaml"));
}

/// What the arguments set at `path`; "" for nothing.
std::string set(const std::string& arguments, const std::string& path, const std::string& below = kDense) {
  return text_at(layer(arguments, below).tree, path).value_or("");
}

std::string notes(const std::string& arguments, const std::string& below = kDense) {
  std::string all;
  for (const std::string& note : layer(arguments, below).notes) {
    all += note + "\n";
  }
  return all;
}

std::string mistake(const std::string& arguments) {
  try {
    layer(arguments);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("flags that are keys") {
  struct Case {
    std::string flag, key, value;
  };
  const std::vector<Case> cases = {
      {"--tensor-parallel-size 4", "hardware.tensor_parallel", "4"},
      {"-pp 2", "hardware.pipeline_parallel", "2"},
      {"--max-num-seqs 128", "engine.max_num_seqs", "128"},
      {"--max-num-batched-tokens 8k", "engine.max_num_batched_tokens", "8000"},
      {"--max-num-batched-tokens 8K", "engine.max_num_batched_tokens", "8192"},
      {"--gpu-memory-utilization .92", "engine.gpu_memory_utilization", "0.92"},
      {"--block-size 32", "engine.block_size", "32"},
      {"--num-gpu-blocks-override 1000", "engine.num_gpu_blocks", "1000"},
      {"--max-model-len 32K", "engine.max_model_len", "32768"},
      {"--enable-prefix-caching", "engine.enable_prefix_caching", "true"},
      {"--no-enable-prefix-caching", "engine.enable_prefix_caching", "false"},
      {"--no-enable-chunked-prefill", "engine.enable_chunked_prefill", "false"},
      {"--long-prefill-token-threshold 512", "engine.long_prefill_token_threshold", "512"},
      {"--scheduling-policy priority", "engine.policy", "priority"},
      {"--scheduling-policy fcfs", "engine.policy", "chunked_prefill"},
      {"--async-scheduling", "engine.async_scheduling", "true"},
      {"--no-async-scheduling", "engine.async_scheduling", "false"},
      {"--enforce-eager", "cost_model.cuda_graphs", "false"},
      {R"(--compilation-config '{"cudagraph_mode": "NONE"}')", "cost_model.cuda_graphs", "false"},
      {"-cc.cudagraph_mode FULL", "cost_model.cuda_graphs", "true"},
      {"--kv-cache-dtype fp8_e4m3", "engine.kv_cache_dtype", "fp8"},
      {"--kv-cache-dtype auto", "engine.kv_cache_dtype", "auto"},
      {"--quantization fp8", "engine.quantization", "fp8"},
      {"-q awq_marlin", "engine.quantization", "int4"},
      {"--quantization modelopt_fp4", "engine.quantization", "nvfp4"},
      {"--preemption-mode swap --swap-space 8", "engine.policy", "continuous"},
      {"--preemption-mode swap --swap-space 8", "engine.preemption_mode", "swap"},
      {"--preemption-mode swap --swap-space 8", "engine.swap_space", "8 GiB"},
      // 64 GiB of the engine on 4 GPUs: 16 GiB each.
      {"--kv-offloading-size 64 -tp 4", "engine.kv_offload.cpu_memory", "17179869184 B"},
  };
  for (const Case& one : cases) {
    INFO(one.flag);
    CHECK(set(one.flag, one.key) == one.value);
  }
  CHECK(layer("--swap-space 8").tree.entries.empty());
  CHECK(layer("--max-model-len auto --dtype bfloat16").tree.entries.empty());
}

TEST_CASE("the model is known by its Hugging Face id, and its name says its format") {
  CHECK(set("serve meta-llama/Llama-3.1-70B-Instruct", "model") == "llama-3.1-70b");
  CHECK(set("--model=deepseek-ai/DeepSeek-V3", "model") == "deepseek-v3");
  CHECK(set("serve RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "engine.quantization") == "fp8");
  CHECK(set("serve Qwen/Qwen2.5-72B-Instruct-AWQ", "engine.quantization") == "int4");
  CHECK(set("serve meta-llama/Llama-3.1-8B", "engine.quantization").empty());
  // A name without a format is a checkpoint of 16 bits, whatever the scenario had.
  CHECK(set("serve meta-llama/Llama-3.1-8B", "engine.quantization",
            kDense + "engine: {quantization: fp8}\n") == "none");
  // The flag says it of any checkpoint.
  CHECK(set("serve meta-llama/Llama-3.1-8B --quantization fp8", "engine.quantization") == "fp8");
  // Where the flag leaves it to the checkpoint, its name says it or nobody does.
  const std::string left_to_it = " -q compressed-tensors";
  CHECK(set("--model RedHatAI/Llama-3.1-8B-FP8" + left_to_it, "engine.quantization") == "fp8");
  CHECK(notes("serve RedHatAI/Llama-3.1-8B-FP8" + left_to_it).empty());
  check_says(notes("serve meta-llama/Llama-3.1-8B" + left_to_it), {"engine.quantization has to say"});
  // Not known: the short name, which the scenario's reader refuses at this place.
  CHECK(set("serve some/other-model", "model") == "other-model");
}

TEST_CASE("data parallel ranks of a mixture of experts share its experts, others are replicas") {
  CHECK(set("-dp 4", "cluster.pools.mixed.replicas") == "4");
  CHECK(set("-dp 4", "hardware.attention_data_parallel").empty());
  CHECK(set("-dp 4", "hardware.attention_data_parallel", kExperts) == "4");
  CHECK(set("-dp 4", "cluster.pools.mixed.replicas", kExperts).empty());
  CHECK(set("serve deepseek-ai/DeepSeek-V3 -dp 4", "hardware.attention_data_parallel") == "4");
  CHECK(layer("-dp 1").tree.entries.empty());
  const std::string apart = kDense + "cluster: {pools: {prefill: {replicas: 1}, decode: {replicas: 1}}}\n";
  CHECK(layer("-dp 2", apart).tree.entries.empty());
  check_says(notes("-dp 2", apart), {"--data-parallel-size of --vllm-args changes nothing"});
}

TEST_CASE("experts are spread over all GPUs of a stage, and limits of a rank count for all ranks") {
  CHECK(set("-tp 8 -ep", "hardware.expert_parallel", kExperts) == "8");
  // 2 GPUs a rank stand in the scenario, before or behind the flag on the command line.
  CHECK(set("-dp 8 -ep", "hardware.expert_parallel", kExperts) == "16");
  CHECK(set("-ep -dp 8 -tp 1", "hardware.expert_parallel", kExperts) == "8");
  CHECK(set("--max-num-seqs 64 -dp 8", "engine.max_num_seqs", kExperts) == "512");
  CHECK(set("--max-num-batched-tokens 2048 -dp 8", "engine.max_num_batched_tokens", kExperts) == "16384");
  CHECK(set("--max-num-seqs 64 -dp 8", "engine.max_num_seqs") == "64");
  CHECK(layer("-tp 2 -ep").tree.entries.size() == 1);
  check_says(notes("-ep"), {"llama-3-8b has no experts"});
}

TEST_CASE("what is not modelled is said, what changes nothing is not") {
  check_says(notes("serve m --enable-lora --cpu-offload-gb 4"),
             {"--enable-lora of --vllm-args is not modelled: ",
              "--cpu-offload-gb of --vllm-args is not modelled: "});
  check_says(notes("--kv-transfer-config '{\"kv_connector\": \"NixlConnector\"}'"), {"disaggregated"});
  check_says(notes("-q bitsandbytes"), {"--quantization of --vllm-args is not modelled: bitsandbytes"});
  check_says(notes("--hf-overrides '{\"num_hidden_layers\": 4, \"rope_theta\": 1}'"),
             {"not modelled in num_hidden_layers"});
  check_says(notes("--enforce-eager"), {"cost_model.host_fixed"});
  check_says(notes("VLLM_USE_V1=0 vllm serve m"), {"VLLM_USE_V1=0"});
  check_says(notes("--max-num-seqs 4 --max-num-seqs 8"), {"--max-num-seqs", "twice", "the last"});
  CHECK(set("--max-num-seqs 4 --max-num-seqs 8", "engine.max_num_seqs") == "8");
  CHECK(notes("serve m --host 0.0.0.0 --port 8000 --api-key k --seed 1 --trust-remote-code "
              "--disable-log-requests "
              "--no-enable-lora --cpu-offload-gb 0 --device cuda --hf-overrides '{\"rope_theta\": 1}' -O3")
            .empty());
}

TEST_CASE("every flag with a rule of its own has one") {
  for (const EngineFlag& flag : vllm_program().flags) {
    INFO(flag.name());
    if (flag.effect == FlagEffect::own) {
      try {
        layer(flag.name() + (flag.form == FlagForm::toggle ? "" : " 1"));
      } catch (const ConfigError&) {  // that 1 is no value of it is fine here
      }
    }
  }
}

TEST_CASE("a policy that vLLM does not have becomes vLLM's") {
  CHECK(set("-tp 1", "engine.policy", kDense + "engine: {policy: sglang}\n") == "chunked_prefill");
  check_says(notes("-tp 1", kDense + "engine: {policy: sglang}\n"), {"chunked_prefill in place of sglang"});
  for (const std::string policy :
       {"chunked_prefill", "continuous", "priority", "shortest_job_first", "one_of_a_plugin"}) {
    INFO(policy);
    CHECK(set("-tp 1", "engine.policy", kDense + "engine: {policy: " + policy + "}\n").empty());
  }
  const std::string apart = kDense + "engine: {policy: disaggregated, batch_policy: trtllm}\n";
  CHECK(set("-tp 1", "engine.batch_policy", apart) == "chunked_prefill");
  CHECK(set("-tp 1", "engine.policy", apart).empty());
  CHECK(set("--scheduling-policy fcfs", "engine.policy", kDense + "engine: {policy: continuous}\n").empty());
}

TEST_CASE("what a pool says itself stays, and is told") {
  check_says(notes("-tp 4 --max-num-seqs 8",
                   kDense + "cluster: {pools: {mixed: {tensor_parallel: 2, engine: {max_num_seqs: 4}}}}\n"),
             {"cluster.pools.mixed.tensor_parallel and cluster.pools.mixed.engine.max_num_seqs"});
}

TEST_CASE("values that a flag does not have are mistakes at their place") {
  check_says(mistake("serve m --max-num-seqs many"),
             {"--vllm-args:1:24: ", "whole number", "8k", "\"many\""});
  check_says(mistake("--kv-cache-dtype=fp9"), {"--vllm-args:1:18: ", "fp8_e4m3", "did you mean \"fp8\"?"});
  check_says(mistake("-q fb8"), {"did you mean \"fp8\"?"});
  check_says(mistake("--scheduling-policy sjf"), {"fcfs or priority", "\"sjf\""});
  check_says(mistake("serve m --config flags.yaml"), {"--vllm-args:1:9: --config", "flags here"});
  check_says(mistake("--dtype int8"), {"bfloat16", "\"int8\""});
  check_says(mistake("--compilation-config '{\"a\": '"),
             {"--vllm-args:1:22: --compilation-config is no JSON"});
}

TEST_CASE("a scenario goes by the command line, and --set by itself") {
  ScenarioOverrides overrides;
  overrides.engine_command = [](const ConfigNode& below) {
    return vllm_layer("serve meta-llama/Llama-3.1-8B-Instruct -tp 2 --max-num-seqs 32 --enable-lora", below);
  };
  const Scenario scenario = load_scenario_text(kDense, "below.yaml", overrides);
  CHECK(scenario.model.name == "llama-3.1-8b");
  CHECK(scenario.tensor_parallel() == 2);
  CHECK(scenario.engine().count("max_num_seqs") == 32);
  REQUIRE(scenario.notes.size() == 1);
  check_says(scenario.notes.front(), {"--enable-lora"});
  overrides.assignments = {"engine.max_num_seqs=16"};
  CHECK(load_scenario_text(kDense, "below.yaml", overrides).engine().count("max_num_seqs") == 16);
}

TEST_CASE("a value out of its key's range is a mistake at its place on the command line") {
  ScenarioOverrides overrides;
  overrides.engine_command = [](const ConfigNode& below) {
    return vllm_layer("serve some/model \\\n  --gpu-memory-utilization 1.5", below);
  };
  try {
    load_scenario_text(kDense, "below.yaml", overrides);
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"--vllm-args:2:28: ", "gpu_memory_utilization"});
  }
}

}  // namespace
}  // namespace inferometer
