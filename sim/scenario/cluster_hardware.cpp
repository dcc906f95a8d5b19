#include "sim/scenario/cluster_hardware.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/suggest.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"
#include "sim/scenario/load_named.hpp"

namespace inferometer {
namespace {

// Of nodes that no description is known of: what an ordinary server has, one 200 Gb/s NIC for two GPUs. All
// of it is assumed, and the user is told.
constexpr std::int64_t kAssumedGpus = 8;
constexpr std::int64_t kAssumedNics = 4;
constexpr BytesPerSecond kAssumedNic{25e9};
constexpr BytesPerSecond kAssumedStorage{5e9};
constexpr Duration kAssumedGpuLatency = microseconds(5);
constexpr Duration kAssumedFabricLatency = microseconds(5);
constexpr std::int64_t kAssumedNodesPerLeaf = 16;
constexpr Duration kAssumedSetUp = microseconds(200);
constexpr double kAssumedEfficiency = 0.85;
constexpr Bytes kAssumedHalfSize{1'000'000};

bool is_builtin_gpu(const std::string& name) {
  const std::vector<std::string> names = builtin_gpu_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

ClusterSpec assumed_cluster(const GpuSpec& gpu) {
  ClusterSpec spec;
  spec.name = gpu.name + " (assumed)";
  spec.title = "nodes of 8 x " + gpu.name + ", assumed";
  spec.gpu = gpu.name;
  spec.node.gpus = kAssumedGpus;
  spec.node.gpu_bandwidth = gpu.nvlink_per_direction.value_or(gpu.pcie_per_direction);
  spec.node.gpu_latency = kAssumedGpuLatency;
  spec.node.nics = kAssumedNics;
  spec.node.nic_bandwidth = kAssumedNic;
  spec.node.storage_bandwidth = kAssumedStorage;
  spec.node.nic_shares_gpu_link = !gpu.nvlink_per_direction.has_value();
  spec.fabric = {.nodes_per_leaf = kAssumedNodesPerLeaf, .latency = kAssumedFabricLatency};
  spec.transfer = {.set_up = kAssumedSetUp, .efficiency = kAssumedEfficiency, .half_size = kAssumedHalfSize};
  return spec;
}

class HardwareReader {
 public:
  HardwareReader(const Values* cluster, Diagnostics& diagnostics)
      : cluster_(cluster), diagnostics_(diagnostics) {}

  ClusterHardware read(const std::vector<PoolSpec>& pools) {
    if (cluster_ != nullptr && cluster_->has("hardware")) {
      whole_ = load_named(*cluster_, "hardware", diagnostics_,
                          [this](const std::string& name) { return loaded(name); });
      check_is_used(pools);
    }
    for (const PoolSpec& pool : pools) {
      hardware_.nodes.push_back(nodes_of(pool));
    }
    const ClusterSpec& fabric = whole_ ? *whole_ : hardware_.nodes.front();
    hardware_.fabric = fabric.fabric;
    hardware_.transfer = fabric.transfer;
    if (cluster_ != nullptr) {
      apply(cluster_->section("network"));
    }
    return std::move(hardware_);
  }

 private:
  ClusterSpec loaded(const std::string& name) {
    ClusterSpec spec = load_cluster(name);
    if (std::find(hardware_.descriptions.begin(), hardware_.descriptions.end(), name) ==
        hardware_.descriptions.end()) {
      hardware_.descriptions.push_back(name);
    }
    return spec;
  }

  /// Nodes that the user names for the whole cluster, but that no pool can use, are a mistake.
  void check_is_used(const std::vector<PoolSpec>& pools) {
    const bool is_used = !whole_ || std::any_of(pools.begin(), pools.end(), [&](const PoolSpec& pool) {
      return pool.gpu.name == whole_->gpu || !is_builtin_gpu(pool.gpu.name);
    });
    if (!is_used) {
      diagnostics_.add(cluster_->where("hardware"), "cluster.hardware: the nodes of " + whole_->name +
                                                        " have " + whole_->gpu + ", but no pool runs on it");
    }
  }

  ClusterSpec nodes_of(const PoolSpec& pool) {
    if (pool.node) {
      return named_nodes(pool);
    }
    if (whole_ && (whole_->gpu == pool.gpu.name || !is_builtin_gpu(pool.gpu.name))) {
      return *whole_;
    }
    for (const std::string& name : builtin_cluster_names()) {
      if (load_cluster(name).gpu == pool.gpu.name) {
        return loaded(name);
      }
    }
    const std::string note = "no cluster is described with " + pool.gpu.name +
                             ": nodes of 8 GPUs with four NICs of 200 Gb/s are assumed";
    if (std::find(hardware_.notes.begin(), hardware_.notes.end(), note) == hardware_.notes.end()) {
      hardware_.notes.push_back(note);
    }
    return assumed_cluster(pool.gpu);
  }

  ClusterSpec named_nodes(const PoolSpec& pool) {
    try {
      ClusterSpec spec = loaded(*pool.node);
      if (spec.gpu != pool.gpu.name && is_builtin_gpu(pool.gpu.name)) {
        diagnostics_.add(pool.node_at, "cluster.pools." + std::string(to_string(pool.role)) +
                                           ".node: the nodes of " + spec.name + " have " + spec.gpu +
                                           ", but the pool runs on " + pool.gpu.name);
      }
      return spec;
    } catch (const ConfigError& error) {
      for (const Diagnostic& fault : error.diagnostics()) {
        diagnostics_.add(fault.where.line == 0 ? pool.node_at : fault.where, fault.message);
      }
      return assumed_cluster(pool.gpu);
    }
  }

  void apply(const Values& network) {
    const std::string& model = network.text("model");
    hardware_.network = model == "none"      ? NetworkModel::none
                        : model == "simgrid" ? NetworkModel::simgrid
                                             : NetworkModel::ideal;
    if (hardware_.network == NetworkModel::simgrid && !has_simgrid()) {
      diagnostics_.add(
          network.where("model"),
          "cluster.network.model: this program was built without SimGrid; ideal and none are there");
    }
    const auto with = [&](const char* key, auto read) {
      if (network.has(key)) {
        read(key);
      }
    };
    with("oversubscription", [&](auto key) { hardware_.fabric.oversubscription = network.number(key); });
    with("nodes_per_leaf", [&](auto key) { hardware_.fabric.nodes_per_leaf = network.count(key); });
    with("latency", [&](auto key) { hardware_.fabric.latency = network.duration(key); });
    with("set_up", [&](auto key) { hardware_.transfer.set_up = network.duration(key); });
    with("efficiency", [&](auto key) { hardware_.transfer.efficiency = network.number(key); });
    with("half_size", [&](auto key) { hardware_.transfer.half_size = network.bytes(key); });
    for (ClusterSpec& spec : hardware_.nodes) {
      NodeSpec& node = spec.node;
      with("nics", [&](auto key) { node.nics = network.count(key); });
      with("nic_bandwidth", [&](auto key) { node.nic_bandwidth = network.bandwidth(key); });
      with("gpu_bandwidth", [&](auto key) { node.gpu_bandwidth = network.bandwidth(key); });
      with("gpu_latency", [&](auto key) { node.gpu_latency = network.duration(key); });
      with("storage_bandwidth", [&](auto key) { node.storage_bandwidth = network.bandwidth(key); });
    }
  }

  const Values* cluster_;
  Diagnostics& diagnostics_;
  std::optional<ClusterSpec> whole_;
  ClusterHardware hardware_;
};

/// Pools of a kind may share nodes: the number of the first pool on nodes of the same name, unless the pool
/// keeps to itself.
std::size_t kind_of(const ClusterHardware& hardware, const std::vector<PoolSpec>& pools, std::size_t pool) {
  std::size_t first = pools[pool].own_nodes ? pool : 0;
  while (first < pool &&
         (pools[first].own_nodes || hardware.nodes[first].name != hardware.nodes[pool].name)) {
    ++first;
  }
  return first;
}

[[noreturn]] void throw_too_few_nodes(const Values& cluster, const std::vector<PoolSpec>& pools,
                                      const std::vector<std::int64_t>& replicas, std::size_t needed) {
  std::vector<std::string> wishes;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const std::int64_t gpus = pools[i].gpus_per_replica();
    wishes.push_back(std::string(to_string(pools[i].role)) + " " + std::to_string(replicas[i]) + " x " +
                     std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"));
  }
  throw ConfigError(cluster.where("nodes"), "cluster.nodes: " + std::to_string(cluster.count("nodes")) +
                                                " are too few for " + join_alternatives(wishes, "and") +
                                                ", which take " + std::to_string(needed));
}

}  // namespace

bool needs_cluster_hardware(const Values& scenario, const std::vector<PoolSpec>& pools) {
  return scenario.has("cluster") || std::any_of(pools.begin(), pools.end(), [](const PoolSpec& pool) {
           return pool.gpus_per_replica() > kMaxTensorParallel;
         });
}

ClusterHardware read_cluster_hardware(const Values& scenario, const std::vector<PoolSpec>& pools,
                                      Diagnostics& diagnostics) {
  const Values* const cluster = scenario.has("cluster") ? &scenario.section("cluster") : nullptr;
  return HardwareReader(cluster, diagnostics).read(pools);
}

Placement place_pools(const Values& scenario, const std::vector<PoolSpec>& pools,
                      const std::vector<std::int64_t>& replicas, const ClusterHardware& hardware) {
  std::vector<PlacementRequest> requests;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    requests.push_back({.replicas = replicas[i],
                        .tensor = pools[i].gpus_per_stage(),
                        .pipeline = pools[i].pipeline_parallel,
                        .gpus_per_node = hardware.nodes[i].node.gpus,
                        .kind = kind_of(hardware, pools, i)});
  }
  Placement placement = place_replicas(requests);
  const bool is_limited = scenario.has("cluster") && scenario.section("cluster").has("nodes");
  const std::size_t needed = placement.kind_of_node.size();
  if (is_limited && needed > static_cast<std::size_t>(scenario.section("cluster").count("nodes"))) {
    throw_too_few_nodes(scenario.section("cluster"), pools, replicas, needed);
  }
  return placement;
}

Platform make_platform(const ClusterHardware& hardware, const Placement& placement) {
  Platform platform;
  for (const std::size_t kind : placement.kind_of_node) {
    platform.nodes.push_back(hardware.nodes[kind].node);
  }
  platform.fabric = hardware.fabric;
  platform.transfer = hardware.transfer;
  return platform;
}

}  // namespace inferometer
