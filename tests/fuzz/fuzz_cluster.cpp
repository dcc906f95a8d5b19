// Any bytes as a cluster's file: either a ConfigError that says something, or a cluster whose figures are in
// range, each with a source.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "hardware/cluster_spec.hpp"

namespace {

using namespace inferometer;

void expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  expect(node.gpus >= 1 && node.nics >= 1 && node.nics <= node.gpus);
  expect(node.gpu_bandwidth.count() > 0 && node.nic_bandwidth.count() > 0);
  expect(node.storage_bandwidth.count() > 0 && node.gpu_latency >= Duration());
  expect(cluster.fabric.nodes_per_leaf >= 1 && cluster.fabric.oversubscription >= 1);
  expect(cluster.fabric.latency >= Duration() && cluster.transfer.set_up >= Duration());
  expect(cluster.transfer.efficiency > 0 && cluster.transfer.efficiency <= 1);
  expect(cluster.transfer.half_size >= Bytes());
  for (const auto& [key, origin] : cluster.provenance) {
    expect(!key.empty() && !origin.source.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(parse_cluster({reinterpret_cast<const char*>(data), size}, "cluster.yaml"));
  } catch (const ConfigError& error) {
    expect(!error.diagnostics().empty() && !error.diagnostics().front().message.empty());
  }
  return 0;
}
