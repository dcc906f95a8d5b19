#pragma once

#include <memory>
#include <vector>

#include "hardware/cluster_spec.hpp"
#include "sim/network/network.hpp"

namespace inferometer {

/// The cluster that a scenario's replicas stand on: nodes, perhaps of several kinds, on one fabric.
struct Platform {
  std::vector<NodeSpec> nodes;
  FabricSpec fabric;
  TransferSpec transfer;
};

/// No contention: a transfer takes set-up and latency, plus its largest pair's bytes over the narrower of
/// what the two GPUs can send and receive at the efficiency of that size. Nothing is shared, neither with
/// other transfers nor among the pairs of one.
std::unique_ptr<Network> make_ideal_network(const Platform& platform);

/// Flows of SimGrid, which share links fairly (max-min) with all others in flight. Throws ConfigError when
/// this program was built without SimGrid. One in a process at a time.
std::unique_ptr<Network> make_simgrid_network(const Platform& platform);

/// Whether make_simgrid_network() works in this build.
bool has_simgrid();

}  // namespace inferometer
