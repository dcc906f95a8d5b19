#pragma once

// What happened to a cluster as a whole, beyond the steps of its replicas. Plain numbers, filled by who runs
// the cluster; handover times and lost requests are the recorder's.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "sim/metrics/duration_statistics.hpp"
#include "sim/metrics/run_totals.hpp"
#include "sim/network/network.hpp"

namespace inferometer {

/// KV caches on their way from the replica that prefilled to the one that decodes.
struct TransferSummary {
  std::int64_t count = 0;    ///< of prompts whose KV arrived
  std::int64_t aborted = 0;  ///< of prompts whose KV nobody fetched in time
  Bytes bytes;               ///< sent, those of transfers that were broken off included
  /// From the end of a prefill to its KV being where it is needed, waiting for room included, of finished
  /// requests; absent without any.
  std::optional<DurationStatistics> handover;
};

struct ClusterSummary {
  std::vector<RejectionCount> lost;  ///< requests that were taken and given up later, by reason
  std::int64_t retries = 0;          ///< times that a request was begun anew
  std::int64_t lost_tokens = 0;      ///< emitted by replicas that failed afterwards
  TransferSummary transfers;
  std::int64_t local_prefills = 0;  ///< prompts that the replica which decodes computed itself
  std::int64_t replica_starts = 0;  ///< after the beginning
  std::int64_t replica_failures = 0;
  std::int64_t replica_drains = 0;
  std::int64_t replica_moves = 0;    ///< between the pools for prefill and decode
  std::vector<std::int64_t> routed;  ///< by replica, requests sent there
  std::vector<LinkUse> links;        ///< in the network's order
};

}  // namespace inferometer
