#include "sim/network/platform.hpp"

#include <algorithm>

namespace inferometer {

GpuLink node_link(const NodeSpec& node) {
  return {node.gpu_bandwidth, node.gpu_latency};
}

GpuLink fabric_link(const NodeSpec& node, const FabricSpec& fabric) {
  const BytesPerSecond share =
      node.nic_bandwidth * (static_cast<double>(node.nics) / static_cast<double>(node.gpus));
  return {node.nic_shares_gpu_link ? std::min(share, node.gpu_bandwidth) : share, fabric.latency};
}

}  // namespace inferometer
