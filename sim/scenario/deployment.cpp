#include "sim/scenario/deployment.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "sim/scenario/cluster_config.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "workloads/delayed_workload.hpp"
#include "workloads/listed_workload.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

std::string name_of(const PoolDeployment& pool) {
  return std::string(to_string(pool.spec.role));
}

Parallelism parallelism_of(const PoolSpec& pool, const PlacedPool& placed, const ClusterHardware& hardware,
                           std::size_t place) {
  Parallelism parallelism;
  parallelism.tensor = pool.tensor_parallel;
  parallelism.pipeline = pool.pipeline_parallel;
  parallelism.attention_data = pool.attention_data_parallel;
  parallelism.expert = pool.expert_parallel;
  parallelism.stage_in_node = placed.tensor_in_node;
  parallelism.tensor_in_node = std::gcd(placed.tensor_in_node, pool.tensor_parallel);
  parallelism.stages_in_node = placed.stages_in_node;
  parallelism.straggler = pool.straggler;
  parallelism.step_time = pool.step_time;
  if (parallelism.stage_spans_nodes() || !placed.stages_in_node) {
    parallelism.between_nodes = fabric_link(hardware.nodes[place].node, hardware.fabric);
  }
  return parallelism;
}

/// Of a scenario without nodes: each pool's replica has one to itself.
Placement in_one_place(const std::vector<PoolSpec>& pools) {
  return place_replicas({{.tensor = pools.front().gpus_per_stage(),
                          .pipeline = pools.front().pipeline_parallel,
                          .gpus_per_node = pools.front().gpus_per_replica()}});
}

PoolSetup pool_setup(const Scenario& scenario, const PoolDeployment& pool,
                     std::vector<std::vector<GpuPlace>> places) {
  PoolSetup setup;
  setup.role = pool.spec.role;
  setup.replicas = static_cast<std::int32_t>(places.size());
  setup.at_start = static_cast<std::int32_t>(pool.spec.replicas);
  setup.pipeline = static_cast<std::int32_t>(pool.spec.pipeline_parallel);
  setup.places = std::move(places);
  setup.max_model_len = pool.limits.max_model_len;
  // KV heads that a large tensor group holds more than once cross the network once.
  setup.kv_bytes_per_token = pool.spec.model.kv_bytes_per_token();
  setup.layers = pool.spec.model.layers;
  setup.weights = (pool.memory.weights + pool.memory.drafter_weights) * pool.spec.gpus_per_replica();
  setup.prefill_tokens_per_second = pool.prefill_tokens_per_second();
  setup.make_router = router_maker(scenario.values, pool.spec.role, router_registry(), scenario.seed());
  return setup;
}

std::function<std::unique_ptr<Network>()> network_maker(NetworkModel model, const Platform& platform) {
  if (model == NetworkModel::none || platform.nodes.empty()) {
    return {};
  }
  return [model, platform] {
    return model == NetworkModel::simgrid ? make_simgrid_network(platform) : make_ideal_network(platform);
  };
}

const PoolDeployment* find_pool(const std::vector<PoolDeployment>& pools, PoolRole role) {
  const auto found = std::find_if(pools.begin(), pools.end(),
                                  [&](const PoolDeployment& pool) { return pool.spec.role == role; });
  return found == pools.end() ? nullptr : &*found;
}

/// Blocks go from one pool to the other as they are.
void check_kv_caches(const PoolDeployment& prefill, const PoolDeployment& decode) {
  Diagnostics diagnostics;
  const auto compare = [&](const char* key, const std::string& a, const std::string& b) {
    if (a != b) {
      const Values& engine = decode.spec.engine;
      diagnostics.add(engine.given(key) ? engine.where(key) : prefill.spec.engine.where(key),
                      std::string("pools for prefill and decode must hold KV caches alike: engine.") + key +
                          " is " + a + " in pool prefill and " + b + " in pool decode");
    }
  };
  const auto in_words = [](std::int64_t number) { return std::to_string(number); };
  compare("block_size", in_words(prefill.limits.block_size), in_words(decode.limits.block_size));
  const Bytes a = prefill.spec.model.kv_bytes_per_token();
  const Bytes b = decode.spec.model.kv_bytes_per_token();
  compare("kv_cache_dtype", in_words(a.count()) + " B a token", in_words(b.count()) + " B a token");
  diagnostics.throw_if_any();
}

/// What one pool cannot hold to its end, none need begin.
void level_model_len(std::vector<PoolDeployment>& pools, std::vector<std::string>& notes) {
  const auto shorter = [](const PoolDeployment& a, const PoolDeployment& b) {
    return a.limits.max_model_len < b.limits.max_model_len;
  };
  const auto [least, most] = std::minmax_element(pools.begin(), pools.end(), shorter);
  if (least->limits.max_model_len == most->limits.max_model_len) {
    return;
  }
  notes.push_back("max_model_len is " + std::to_string(least->limits.max_model_len) +
                  " in all pools, as in pool " + name_of(*least) + "; pool " + name_of(*most) +
                  " would take " + std::to_string(most->limits.max_model_len));
  const std::int64_t length = least->limits.max_model_len;
  for (PoolDeployment& pool : pools) {
    pool.limits.max_model_len = length;
    pool.replica.max_model_len = length;
  }
}

/// Intervals come from the errors of measured kernels alone.
void add_uncertainty_note(const Scenario& scenario, Deployment& deployment) {
  if (scenario.uncertainty_runs() == 0) {
    return;
  }
  std::vector<std::string> without;
  for (const PoolDeployment& pool : deployment.pools) {
    const std::string& gpu = pool.spec.gpu.name;
    if (pool.cost_basis().level != CostLevel::calibrated &&
        std::find(without.begin(), without.end(), gpu) == without.end()) {
      without.push_back(gpu);
    }
  }
  if (without.empty()) {
    return;
  }
  const std::string gpus = join_alternatives(without, "and");
  const std::string verb = without.size() == 1 ? " has none" : " have none";
  const bool is_none = std::none_of(
      deployment.pools.begin(), deployment.pools.end(),
      [](const PoolDeployment& pool) { return pool.cost_basis().level == CostLevel::calibrated; });
  deployment.notes.push_back(
      (is_none ? "no uncertainty intervals: they are drawn from the errors of measured kernels, and "
               : "uncertainty intervals are too narrow: errors are drawn for measured kernels, and ") +
      gpus + verb);
}

/// The pool that a note is of is named when there are several.
void add_pool_notes(const PoolSpec& pool, bool is_one_of_many, const std::vector<std::string>& notes,
                    Deployment& deployment) {
  for (const std::string& note : notes) {
    const std::string said =
        is_one_of_many ? "pool " + std::string(to_string(pool.role)) + ": " + note : note;
    deployment.notes.push_back(said);
  }
}

ClusterSetup cluster_of(const Scenario& scenario) {
  Diagnostics diagnostics;
  ClusterSetup cluster = read_cluster(scenario.values, scenario.pools, router_registry(), diagnostics);
  diagnostics.throw_if_any();
  return cluster;
}

void add_disaggregation(const Scenario& scenario, Deployment& deployment, ClusterSetup& cluster) {
  const PoolDeployment* const prefill = find_pool(deployment.pools, PoolRole::prefill);
  const PoolDeployment* const decode = find_pool(deployment.pools, PoolRole::decode);
  if (prefill == nullptr || decode == nullptr) {
    return;
  }
  check_kv_caches(*prefill, *decode);
  Diagnostics diagnostics;
  cluster.disaggregation =
      read_disaggregation(scenario.engine(), prefill->pricer_limits.max_tokens, diagnostics);
  diagnostics.throw_if_any();
  level_model_len(deployment.pools, deployment.notes);
}

}  // namespace

void Deployment::set_stepper(Stepper stepper) {
  for (PoolDeployment& pool : pools) {
    pool.replica.stepper = stepper;
  }
}

Deployment make_deployment(const Scenario& scenario, const Deployment* sibling) {
  Deployment deployment;
  ClusterSetup cluster = cluster_of(scenario);
  const std::optional<ClusterHardware>& hardware = scenario.nodes;
  Placement placement = hardware ? place_pools(scenario.values, scenario.pools,
                                               most_replicas(scenario.values, scenario.pools), *hardware)
                                 : in_one_place(scenario.pools);
  for (std::size_t i = 0; i < scenario.pools.size(); ++i) {
    const PoolSpec& pool = scenario.pools[i];
    const Parallelism parallelism = hardware ? parallelism_of(pool, placement.pools[i], *hardware, i)
                                             : parallelism_of(pool, placement.pools[i], {}, i);
    const PoolDeployment* const sibling_pool = sibling == nullptr ? nullptr : &sibling->pools[i];
    std::vector<std::string> notes;
    deployment.pools.push_back(make_pool_deployment(pool, parallelism, notes, sibling_pool));
    add_pool_notes(pool, scenario.pools.size() > 1, notes, deployment);
  }
  add_disaggregation(scenario, deployment, cluster);
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    cluster.pools.push_back(
        pool_setup(scenario, deployment.pools[i], std::move(placement.pools[i].replicas)));
  }
  if (hardware) {
    deployment.network = hardware->network;
    cluster.make_network = network_maker(hardware->network, make_platform(*hardware, placement));
    deployment.notes.insert(deployment.notes.end(), hardware->notes.begin(), hardware->notes.end());
  }
  add_router_note(scenario.values, scenario.pools, deployment.notes);
  add_uncertainty_note(scenario, deployment);
  deployment.is_single = !scenario.values.has("cluster") && scenario.pools.front().pipeline_parallel == 1;
  deployment.cluster = std::make_shared<const ClusterSetup>(std::move(cluster));
  return deployment;
}

Duration frontend_latency(const Scenario& scenario) {
  const auto entry = std::find_if(scenario.pools.begin(), scenario.pools.end(),
                                  [](const PoolSpec& pool) { return pool.role == PoolRole::prefill; });
  const PoolSpec& pool = entry == scenario.pools.end() ? scenario.pools.front() : *entry;
  return pool.cost_model.duration("frontend_latency");
}

Simulation make_simulation(const Scenario& scenario, const Deployment& deployment,
                           SimulationObserver& observer) {
  std::vector<Replica> lanes;
  std::int32_t index = 0;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    for (std::int64_t replica = 0; replica < deployment.replicas(i); ++replica) {
      add_lanes(deployment.pools[i], index++, observer, lanes);
    }
  }
  auto workload = scenario.listed_requests
                      ? make_listed_workload(scenario.listed_requests)
                      : make_workload(scenario.workload(), scenario.seed(), scenario.trace_directory());
  workload = delayed(std::move(workload), frontend_latency(scenario));
  if (deployment.is_single) {
    return Simulation(std::move(workload), std::move(lanes), observer);
  }
  return Simulation(std::move(workload), std::move(lanes), deployment.cluster, observer);
}

}  // namespace inferometer
