#pragma once

// What the summary at a terminal says of a cluster: a table of its pools, and figures of what went on between
// them.

#include <cstddef>
#include <string>
#include <vector>

#include "sim/metrics/cluster_summary.hpp"
#include "sim/metrics/resource_summary.hpp"

namespace inferometer {

inline constexpr int kPoolColumnWidth = 12;
inline constexpr std::size_t kLinksShown = 5;

/// Names of the columns of pool_row().
std::string pool_table_head();

/// A pool's replicas, the shares of the time in which they were neither idle nor held up by a stage of their
/// pipeline, of their KV blocks on average while busy and at most, requests running, MFU, MBU; its GPUs, in a
/// line of their own where they would pass `width` characters. No newline at the end.
std::string pool_row(const PoolSummary& pool, int width);

/// Nothing where no KV cache was to be handed over.
std::vector<std::string> transfer_figures(const ClusterSummary& cluster);

/// The busiest links that carried anything, at most kLinksShown, and how many more there are.
std::vector<std::string> link_figures(const std::vector<LinkUse>& links);

/// Replicas that came and went, and what that cost; nothing where none did.
std::vector<std::string> replica_figures(const ClusterSummary& cluster);

}  // namespace inferometer
