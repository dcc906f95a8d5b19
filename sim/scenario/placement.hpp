#pragma once

// Which GPUs of which nodes a replica runs on. Who uses it: deployments, for how a replica's GPUs talk to
// each other and for the ends of transfers between replicas.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/network/network.hpp"

namespace inferometer {

/// Replicas that are placed alike, of tensor * pipeline GPUs each; `tensor`: all GPUs of a stage. All counts
/// are at least 1.
struct PlacementRequest {
  std::int64_t replicas = 1;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t gpus_per_node = 8;
  std::size_t kind = 0;  ///< replicas of the same kind may share a node
};

struct PlacedPool {
  std::vector<std::vector<GpuPlace>> replicas;  ///< GPUs of each, ranks of the first stage first
  std::int64_t tensor_in_node = 1;              ///< of a tensor group, GPUs that share a node
  bool stages_in_node = true;                   ///< no stage of the pipeline begins on another node
};

struct Placement {
  std::vector<PlacedPool> pools;          ///< one a request
  std::vector<std::size_t> kind_of_node;  ///< by number of the node
};

/// Packs replicas in order. One whose GPUs fit into a node stays in one, the first with room of the kind's
/// last node or else a new one. A larger one begins on a new node, and so does each of its stages that the
/// node before has no room for; a tensor group larger than a node takes as many of the fewest nodes that can
/// hold it in equal parts. O(GPUs).
Placement place_replicas(const std::vector<PlacementRequest>& requests);

}  // namespace inferometer
