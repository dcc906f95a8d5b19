#include "sim/scenario/pool_spec.hpp"

#include <string_view>
#include <utility>

#include "base/suggest.hpp"
#include "sim/scenario/cluster_table.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/scenario/kv_offload.hpp"
#include "sim/scenario/kv_swap.hpp"
#include "sim/scenario/load_named.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {
namespace {

const Values* pools_of(const Values& scenario) {
  return scenario.has("cluster") ? &scenario.section("cluster").section("pools") : nullptr;
}

bool has_pool(const Values* pools, PoolRole role) {
  return pools != nullptr && pools->has(to_string(role)) &&
         pools->section(to_string(role)).count("replicas") > 0;
}

std::string pool_path(PoolRole role) {
  return "cluster.pools." + std::string(to_string(role));
}

/// Prompts and decodes on pools of their own need both pools, and a policy that sends requests there.
void check_roles(const Values& scenario, Diagnostics& diagnostics) {
  const Values* const pools = pools_of(scenario);
  const Values& engine = scenario.section("engine");
  const bool is_split = engine.text("policy") == kDisaggregated;
  for (const PoolRole role : {PoolRole::prefill, PoolRole::decode}) {
    const std::string name(to_string(role));
    if (is_split && !has_pool(pools, role)) {
      diagnostics.add(pools != nullptr && pools->all().size() > 0 ? pools->where() : engine.where("policy"),
                      "engine.policy disaggregated needs pools for prefill and decode; there is no " +
                          pool_path(role) + ", e.g. \"" + name + ": {replicas: 1}\"");
    } else if (!is_split && has_pool(pools, role)) {
      diagnostics.add(
          pools->where(name),
          pool_path(role) + " goes with engine.policy disaggregated, not with " + engine.text("policy"));
    }
  }
  if (is_split && has_pool(pools, PoolRole::mixed) && !engine.has("overflow_tokens")) {
    diagnostics.add(pools->where("mixed"),
                    "beside pools for prefill and decode, cluster.pools.mixed gets requests only with "
                    "engine.overflow_tokens, which is not given");
  }
}

/// Decodes join a batch that did not admit them: not every policy bears that.
void check_takes_decodes(const PoolSpec& pool, const Values& scenario, Diagnostics& diagnostics) {
  const bool is_to_decode =
      pool.role == PoolRole::decode ||
      (pool.role == PoolRole::prefill && scenario.section("cluster").has("dynamic_split"));
  const std::string& name = pool.engine.text("policy");
  const PolicyEntry* const policy = policy_registry().find(name);
  if (!is_to_decode || policy == nullptr || policy->takes_handed_over) {
    return;
  }
  std::vector<std::string> able;
  for (const PolicyEntry& entry : policy_registry().entries()) {
    if (entry.takes_handed_over) {
      able.push_back(entry.name);
    }
  }
  diagnostics.add(pool.engine.where("policy"), "policy " + name +
                                                   " takes no sequences that another replica has "
                                                   "prefilled, as pool " +
                                                   std::string(to_string(pool.role)) + " must; " +
                                                   join_alternatives(able, "and") + " do");
}

/// Decodes of several tokens are planned by few policies, and pass through no pipeline; KV that comes from
/// another replica has none of the drafter's.
void check_speculates(const PoolSpec& pool, Diagnostics& diagnostics) {
  const std::string& name = pool.engine.text("policy");
  const PolicyEntry* const policy = policy_registry().find(name);
  if (policy != nullptr && !policy->takes_speculation) {
    std::vector<std::string> able;
    for (const PolicyEntry& entry : policy_registry().entries()) {
      if (entry.takes_speculation) {
        able.push_back(entry.name);
      }
    }
    diagnostics.add(pool.speculation->at, "policy " + name + " drafts no tokens (engine.speculation); " +
                                              join_alternatives(able, "and") +
                                              (able.size() == 1 ? " does" : " do"));
  }
  if (pool.pipeline_parallel > 1) {
    diagnostics.add(pool.speculation->at,
                    "engine.speculation needs pipeline_parallel 1, not " +
                        std::to_string(pool.pipeline_parallel) +
                        ": what a step drafts, the next one verifies, and with a pipeline that is under way "
                        "before it is known");
  }
  if (pool.role == PoolRole::prefill) {  // where there is one, there is one for decode
    diagnostics.add(pool.speculation->at,
                    "engine.speculation is not modelled with engine.policy disaggregated: the drafter's KV "
                    "cache would have to be handed over, too");
  }
}

/// Where a key that a pool may leave to `hardware` is said.
Position place_of(const Values& pool, const Values& hardware, const std::string& key) {
  return pool.has(key) ? pool.where(key) : hardware.where(key);
}

PoolSpec read_pool(PoolRole role, const Values& pool, const Values& scenario, const ModelSpec& model,
                   Diagnostics& diagnostics) {
  const Values& hardware = scenario.section("hardware");
  const auto count = [&](const char* key) { return pool.has(key) ? pool.count(key) : hardware.count(key); };
  PoolSpec spec;
  spec.role = role;
  spec.replicas = pool.has("replicas") ? pool.count("replicas") : 1;
  spec.tensor_parallel = count("tensor_parallel");
  spec.pipeline_parallel = count("pipeline_parallel");
  const auto count_or_one = [&](const char* key) {
    return pool.has(key) || hardware.has(key) ? count(key) : 1;
  };
  spec.attention_data_parallel = count_or_one("attention_data_parallel");
  spec.expert_parallel = count_or_one("expert_parallel");
  spec.straggler = pool.has("straggler") ? pool.number("straggler") : hardware.number("straggler");
  spec.engine = pool.has("engine") ? pool.section("engine") : scenario.section("engine");
  spec.cost_model = pool.has("cost_model") ? pool.section("cost_model") : scenario.section("cost_model");
  spec.own_nodes = pool.has("own_nodes") && pool.flag("own_nodes");
  spec.gpu_at = place_of(pool, hardware, "gpu");
  spec.tensor_at = place_of(pool, hardware, "tensor_parallel");
  spec.pipeline_at = place_of(pool, hardware, "pipeline_parallel");
  spec.attention_at = place_of(pool, hardware, "attention_data_parallel");
  spec.expert_at = place_of(pool, hardware, "expert_parallel");
  spec.replicas_at = pool.where("replicas");
  if (pool.has("node")) {
    spec.node = path_or_name(pool, "node");
    spec.node_at = pool.where("node");
  }
  // A GPU that cannot be loaded is reported where it is named, the scenario's own once.
  Diagnostics faults;
  std::optional<GpuSpec> gpu = load_named(pool.has("gpu") ? pool : hardware, "gpu", faults, load_gpu);
  if (!gpu) {
    for (const Diagnostic& fault : pool.has("gpu") ? faults.found() : std::vector<Diagnostic>()) {
      diagnostics.add(fault.where, fault.message);
    }
    return spec;
  }
  spec.gpu = std::move(*gpu);
  const bool is_same_gpu = !pool.has("gpu") || pool.text("gpu") == hardware.text("gpu");
  if (pool.has("price")) {
    spec.gpu.price = pool.price_rate("price");
  } else if (hardware.has("price") && is_same_gpu) {
    spec.gpu.price = hardware.price_rate("price");
  }
  spec.model =
      quantized(model, spec.gpu, spec.engine.text("quantization"), spec.engine.text("kv_cache_dtype"));
  if (spec.model.moe && hardware.has("expert_skew")) {
    spec.model.moe->skew = hardware.number("expert_skew");
  }
  spec.speculation = read_speculation(spec.engine, spec.model, spec.gpu,
                                      static_cast<std::uint64_t>(scenario.count("seed")), diagnostics);
  if (spec.speculation) {
    check_speculates(spec, diagnostics);
  }
  check_kv_offload(spec, diagnostics);
  check_kv_swap(spec, diagnostics);
  return spec;
}

}  // namespace

bool has_prefill_and_decode(const Values& scenario) {
  const Values* const pools = pools_of(scenario);
  return has_pool(pools, PoolRole::prefill) && has_pool(pools, PoolRole::decode);
}

CostOptions cost_options_of(const PoolSpec& pool) {
  CostOptions options = cost_options_from(pool.cost_model);
  options.host_overlap = options.host_overlap || pool.engine.flag("async_scheduling");
  return options;
}

std::vector<PoolSpec> read_pools(const Values& scenario, const ModelSpec& model, Diagnostics& diagnostics) {
  check_roles(scenario, diagnostics);
  const Values& hardware = scenario.section("hardware");
  if (hardware.has("expert_skew") && model.layers > 0 && !model.moe) {
    diagnostics.add(hardware.where("expert_skew"),
                    "hardware.expert_skew goes with a mixture of experts; " + model.name + " has no experts");
  }
  const Values* const pools = pools_of(scenario);
  std::vector<PoolSpec> specs;
  for (const PoolRole role : kPoolOrder) {
    if (has_pool(pools, role)) {
      specs.push_back(read_pool(role, pools->section(to_string(role)), scenario, model, diagnostics));
      check_takes_decodes(specs.back(), scenario, diagnostics);
    }
  }
  if (specs.empty()) {
    if (pools != nullptr && pools->has(to_string(PoolRole::mixed))) {
      diagnostics.add(pools->section(to_string(PoolRole::mixed)).where("replicas"),
                      "cluster.pools: no pool has a replica");
    }
    Values nothing_said;
    nothing_said.set_where(hardware.where());
    specs.push_back(read_pool(PoolRole::mixed, nothing_said, scenario, model, diagnostics));
  }
  return specs;
}

}  // namespace inferometer
