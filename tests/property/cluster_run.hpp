#pragma once

// One run of a random cluster with either stepper, watched in all that users can see.

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "tests/property/stepper_equality_run.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/shared_link_network.hpp"

namespace inferometer::testing {

/// A request as it came, and what the replicas were told to have at that moment.
struct SeenArrival {
  std::int64_t id = 0;
  TimePoint time;
  std::int64_t waiting = 0;
  std::vector<std::int64_t> loads;  ///< outstanding, waiting, tokens, prefill_tokens of each replica
  bool operator==(const SeenArrival&) const = default;
};

struct SeenRejection {
  TimePoint time;
  std::int64_t id = 0;
  std::string reason;
  auto operator<=>(const SeenRejection&) const = default;
};

struct ClusterRun {
  /// By replica and micro-batch.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<SeenStep>> steps;
  std::vector<FinishedRequest> finished;  ///< by time, then number
  std::vector<SeenRejection> rejected;    ///< likewise
  std::vector<SeenArrival> arrivals;
  TransferLog transfers;
  ClusterTotals totals;
  Census census;
  StepCounts counts;
  KvOffloadCounts offload;
  DraftCounts drafted;
  std::vector<std::int64_t> replicas;  ///< routed, role, status and paid of each
  std::int64_t most_lanes_at_once = 0, most_held = 0, preemptions = 0;
  std::int64_t in_mixed_pool = 0;  ///< finished there, of a split cluster
  std::int64_t mid_stretch_arrivals = 0;
  std::string broken;  ///< the first invariant that did not hold; empty when all did
};

/// Handles `piece` events at a time. One at a time, invariants are looked at after each.
ClusterRun run_cluster(const RandomCluster& cluster, Stepper stepper, std::int64_t piece = 1);

inline constexpr std::int64_t kWholeRun = std::numeric_limits<std::int64_t>::max();

/// Where two runs differ first; empty when they do not.
std::string first_difference(const ClusterRun& got, const ClusterRun& expected);

}  // namespace inferometer::testing
