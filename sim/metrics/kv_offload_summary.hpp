#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "sim/kvcache/kv_offload.hpp"

namespace inferometer {

/// What went between GPUs and host memory, of all replicas together.
struct KvOffloadSummary {
  KvOffloadCounts counts;
  std::int64_t replicas = 0;    ///< that have host memory
  std::int64_t block_size = 0;  ///< tokens
  Bytes block_bytes{};          ///< over all GPUs of a replica
  /// Of the links of a replica, the share of the run for which they were in use: 0 to 1, over it for copies
  /// that the run does not wait for. To be filled in.
  double store_share = 0, load_share = 0;

  void set_duration(double seconds) {
    const double available = seconds * static_cast<double>(replicas);
    store_share = available > 0 ? to_seconds(counts.storing) / available : 0;
    load_share = available > 0 ? to_seconds(counts.loading) / available : 0;
  }
};

}  // namespace inferometer
