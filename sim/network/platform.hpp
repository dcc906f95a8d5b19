#pragma once

// The cluster as a network sees it, the networks there are, and its links as collectives see them.

#include <memory>
#include <vector>

#include "costmodel/parallelism.hpp"
#include "hardware/cluster_spec.hpp"
#include "sim/network/network.hpp"

namespace inferometer {

/// The cluster that a scenario's replicas stand on: nodes, perhaps of several kinds, on one fabric. Node n
/// hangs on leaf n / nodes_per_leaf; the last leaf may have fewer.
struct Platform {
  std::vector<NodeSpec> nodes;
  FabricSpec fabric;
  TransferSpec transfer;
};

/// No contention between transfers: each takes set-up and latency, plus what its pairs of ranks bring to the
/// link that needs longest for it, at the efficiency of a pair's size. next_end() is exact. link_use() is
/// what was asked of the links, and may be more than they could carry. Starts and ends are O(pairs + log
/// transfers).
std::unique_ptr<Network> make_ideal_network(const Platform& platform);

/// Flows of SimGrid, which share links fairly (max-min) with all others in flight: model CM02, after a
/// set-up and latency during which a flow takes nothing from others. Alone, a transfer takes as long as in
/// the ideal network. SimGrid is one of a kind in a process: there may be one such network at a time, used by
/// the thread that made it; a later one starts anew, but sums from SimGrid's clock, so that its times may
/// differ from an earlier one's in the last picosecond (a process of its own for each run avoids that).
/// Signal handlers are left as they were. Throws ConfigError when this program was built without SimGrid.
std::unique_ptr<Network> make_simgrid_network(const Platform& platform);

/// Whether make_simgrid_network() works in this build.
bool has_simgrid();

/// What neighbours in a collective or a pipeline within a node talk over.
GpuLink node_link(const NodeSpec& node);

/// What they talk over between nodes when all GPUs of a node do at once: a GPU's share of the adapters.
GpuLink fabric_link(const NodeSpec& node, const FabricSpec& fabric);

}  // namespace inferometer
