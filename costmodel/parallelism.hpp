#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace inferometer {

/// A path between two GPUs that a collective's neighbours, or two stages of a pipeline, talk over.
struct GpuLink {
  BytesPerSecond bandwidth;  ///< of one GPU, in one direction
  Duration latency{};        ///< of one message
};

/// How one replica is spread over GPUs. Ranks of a tensor group stand side by side in a node as far as they
/// fit; stages of a pipeline follow each other.
struct Parallelism {
  std::int64_t tensor = 1;    ///< GPUs over which every layer is split
  std::int64_t pipeline = 1;  ///< stages over which the layers are spread
  /// Of a tensor group, GPUs in one node; a group larger than that spans nodes and its collectives cross
  /// `between_nodes`. A divisor of `tensor`.
  std::int64_t tensor_in_node = 1;
  std::optional<GpuLink> between_nodes;  ///< required when a tensor group or a pipeline spans nodes
  /// GPU pairs of a node share this instead of NVLink or PCIe as the GPU's description has it; absent: as
  /// described.
  std::optional<GpuLink> in_node;
  bool stages_in_node = true;  ///< neighbouring stages of the pipeline share a node
  /// The slowest GPU of a replica takes so many times as long as the mean one, and all wait for it.
  double straggler = 1;

  [[nodiscard]] std::int64_t gpus() const { return tensor * pipeline; }
};

}  // namespace inferometer
