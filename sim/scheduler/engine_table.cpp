#include "costmodel/memory_footprint.hpp"
#include "costmodel/model_spec.hpp"
#include "sim/scheduler/batch_policy.hpp"
#include "sim/scheduler/engine_preset.hpp"
#include "sim/scheduler/kv_offload_keys.hpp"
#include "sim/scheduler/speculation_keys.hpp"

namespace inferometer {
namespace {

void add_memory_keys(Table& table) {
  table.add("block_size", ValueType::count, "Tokens a KV block holds").by_default("16").range("1", "1024");
  table.add("gpu_memory_utilization", ValueType::number, "Share of GPU memory the engine may use")
      .by_default("0.9")
      .range("", "1")
      .above("0");
  table
      .add_choice(
          "kv_memory", {kKvMemoryWords.begin(), kKvMemoryWords.end()},
          "Whose arithmetic finds the memory for KV. vllm: gpu_memory_utilization of the GPU's, less "
          "weights, "
          "activations and the rest; sglang: the same without taking off activations, for which the other "
          "share is there (mem_fraction_static); trtllm: gpu_memory_utilization of what they leave "
          "(free_gpu_memory_fraction)")
      .by_default("vllm");
  table.add("num_gpu_blocks", ValueType::count, "KV blocks, as the engine logs them")
      .optional("computed from the memory that weights and activations leave")
      .range("1", "1000000000");
}

void add_policy_keys(Table& table, const PolicyRegistry& registry, const EngineSplit& split) {
  for (const PolicyEntry& policy : registry.entries()) {
    table.add_variant("policy", policy.name, policy.keys);
  }
  if (!split.policy.empty()) {
    table.add_variant("policy", split.policy, split.keys);
    for (const PolicyEntry& policy : registry.entries()) {
      table.add_variant(split.inner, policy.name, policy.keys);
    }
  }
  for (const PolicyEntry& policy : registry.entries()) {
    for (const Table::Variant& variant : policy.variants) {
      table.add_variant(variant.selector, variant.word, variant.keys);
    }
  }
}

}  // namespace

Table engine_table(const PolicyRegistry& registry, const EngineSplit& split) {
  Table table("engine", "How the serving engine batches requests and holds their KV cache");
  std::vector<std::string> policies = registry.names();
  if (!split.policy.empty()) {
    policies.push_back(split.policy);
  }
  table
      .add_choice(
          "preset", engine_preset_names(),
          "Engine and version whose defaults fill those keys of engine and cost_model that are not given, "
          "by GPU (inferometer describe presets)")
      .optional("the defaults below");
  table.add_choice("policy", policies, "Batch policy").by_default("chunked_prefill");
  table.add("max_num_seqs", ValueType::count, "Most sequences running at once")
      .by_default("256")
      .range("1", "65536");
  table.add("max_model_len", ValueType::count, "Longest prompt plus output of one request, in tokens")
      .optional("what the model was made for, cut to what the KV cache holds")
      .range("2", "16777216");
  add_memory_keys(table);
  table
      .add("async_scheduling", ValueType::flag,
           "true: each step is planned while the one before it runs, so that the host's work hides behind "
           "the GPU "
           "(as with cost_model.host_overlap) and a request that comes during a step is first in the step "
           "after "
           "the next; where nothing runs it begins at once")
      .by_default("false");
  table
      .add_choice(
          "quantization", {weight_quantizations().begin(), weight_quantizations().end()},
          "Number format of the layers' weights: none as in the checkpoint; fp8 with a scale a channel and "
          "fp8_block with a scale for each 128 x 128 weights, both computed in fp8 where the GPU can; "
          "weights "
          "only, computed in bf16, are int4 with a scale for each 128, nvfp4 with one for each 16 and mxfp4 "
          "with one for each 32, which is of routed experts alone where there are any. Embeddings, routers "
          "and lm_head stay as they are")
      .by_default("none");
  table
      .add_choice("kv_cache_dtype", {kv_cache_dtypes().begin(), kv_cache_dtypes().end()},
                  "Number format of the KV cache: auto as the checkpoint")
      .by_default("auto");
  table
      .add_section("speculation", speculation_table(),
                   "Tokens that are drafted cheaply and verified several at a time")
      .optional("nothing is drafted");
  table
      .add_section("kv_offload", kv_offload_table(),
                   "Host memory that keeps the KV of cached prefixes when GPUs lose it")
      .optional("what GPUs lose is computed again");
  add_policy_keys(table, registry, split);
  return table;
}

}  // namespace inferometer
