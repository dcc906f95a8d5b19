#pragma once

// What a cluster is made of: nodes of GPUs, their links, the fabric between them. Files:
// hardware/clusters/<name>.yaml, every number with source and date.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// A machine with GPUs. All bandwidths are of one direction.
struct NodeSpec {
  std::int64_t gpus = 0;         ///< in one node
  BytesPerSecond gpu_bandwidth;  ///< of one GPU to the others of its node (NVSwitch, NVLink bridge or PCIe)
  Duration gpu_latency{};        ///< of a message between them
  std::int64_t nics = 0;         ///< for GPU traffic; GPU g uses NIC g * nics / gpus
  BytesPerSecond nic_bandwidth;  ///< of one NIC
  BytesPerSecond storage_bandwidth;  ///< at which one node reads weights, all its GPUs together
  /// Whether traffic with other nodes and storage crosses the link that gpu_bandwidth is of: over PCIe it
  /// does, beside NVLink it does not.
  bool nic_shares_gpu_link = false;
};

/// The network between nodes: a fat tree of two levels. Leaf switches join `nodes_per_leaf` nodes; the links
/// from a leaf up carry 1 / oversubscription of what its nodes can send.
struct FabricSpec {
  std::int64_t nodes_per_leaf = 0;
  double oversubscription = 1;  ///< >= 1
  Duration latency{};           ///< of a message from NIC to NIC, whatever the number of switches
};

/// What transfers of KV and weights reach of the rate of a link: `efficiency * s / (s + half_size)` for a
/// message of s bytes on one pair of GPUs. That is the time of (s + half_size) / efficiency bytes at the full
/// rate, which is also what the transfer takes away from others on the links it crosses.
struct TransferSpec {
  Duration set_up{};      ///< once a transfer: metadata, registration, the first descriptor
  double efficiency = 1;  ///< of the largest messages; in [0.001, 1]
  Bytes half_size;        ///< message that reaches half of that; 0 to 1 TB
};

struct ClusterSpec {
  std::string name;   ///< as in a scenario: "dgx-h100"
  std::string title;  ///< "NVIDIA DGX H100, 8 x 400 Gb/s InfiniBand"
  std::string gpu;    ///< built-in GPU its nodes have
  NodeSpec node;
  FabricSpec fabric;
  TransferSpec transfer;
  std::vector<std::pair<std::string, Provenance>> provenance;  ///< by key ("node.nics"), in table order
};

/// Names of the built-in clusters, sorted.
std::vector<std::string> builtin_cluster_names();

/// A built-in name, or a path to a YAML file of the same form. Throws ConfigError (unknown name: lists the
/// known ones and suggests the nearest).
ClusterSpec load_cluster(const std::string& name_or_path);

/// The text of such a file; `name` is what messages call it and what the cluster is called.
ClusterSpec parse_cluster(std::string_view text, const std::string& name);

}  // namespace inferometer
