#pragma once

// The nodes that a scenario's pools stand on, and the network between them.

#include <string>
#include <vector>

#include "base/config/values.hpp"
#include "hardware/cluster_spec.hpp"
#include "sim/network/platform.hpp"
#include "sim/scenario/placement.hpp"
#include "sim/scenario/pool_spec.hpp"

namespace inferometer {

enum class NetworkModel : std::uint8_t { ideal, simgrid, none };

/// Cluster descriptions, with the scenario's figures in place of theirs.
struct ClusterHardware {
  std::vector<ClusterSpec> nodes;  ///< of each pool; pools on nodes of one name may share a node
  FabricSpec fabric;               ///< between all nodes
  TransferSpec transfer;
  NetworkModel network = NetworkModel::ideal;
  std::vector<std::string> descriptions;  ///< names or paths of what was read, each once
  std::vector<std::string> notes;
};

/// Whether the scenario's replicas need to know their nodes: there are several, or one that may not fit into
/// a node.
bool needs_cluster_hardware(const Values& scenario, const std::vector<PoolSpec>& pools);

/// Adds to `diagnostics`: descriptions that are not known, nodes without the pool's GPU, SimGrid in a program
/// built without it. Precondition: GPUs of the pools are known.
ClusterHardware read_cluster_hardware(const Values& scenario, const std::vector<PoolSpec>& pools,
                                      Diagnostics& diagnostics);

/// Places the pools' replicas, `replicas` of each. Throws ConfigError when cluster.nodes are too few.
Placement place_pools(const Values& scenario, const std::vector<PoolSpec>& pools,
                      const std::vector<std::int64_t>& replicas, const ClusterHardware& hardware);

/// Nodes and links for a network model.
Platform make_platform(const ClusterHardware& hardware, const Placement& placement);

}  // namespace inferometer
