#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace inferometer {

/// What happened between replicas, counted as it happens.
struct ClusterTotals {
  std::int64_t rejected = 0;          ///< turned away by the cluster as they arrived, or with nowhere to go
  std::int64_t lost = 0;              ///< given up after a failure or an abort
  std::int64_t retries = 0;           ///< requests begun anew after a failure
  std::int64_t lost_tokens = 0;       ///< emitted for nothing: by replicas that failed after them
  std::int64_t tokens_not_sent = 0;   ///< of prompts whose KV the decode replica had cached already
  std::int64_t discarded_tokens = 0;  ///< first tokens of prefills that the decode replica computes again
  std::int64_t completed = 0;         ///< that needed no decode replica: a token of the prefill was all
  std::int64_t handed_over = 0;       ///< prompts computed on one replica for another
  std::int64_t local_prefills = 0;    ///< prompts that a decode replica, or the mixed pool, was left with
  std::int64_t transfers = 0;         ///< of KV, begun
  Bytes transferred;                  ///< likewise
  std::int64_t aborts = 0;            ///< prompts whose KV nobody fetched in time
  std::int64_t failures = 0, drains = 0, starts = 0;  ///< of replicas
  std::int64_t moves = 0;  ///< of replicas between the pools for prefill and decode
};

}  // namespace inferometer
