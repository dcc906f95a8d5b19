#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "sim/kvcache/kv_offload.hpp"

namespace inferometer {

/// What went into a tier below the GPUs and out of it, of all replicas together.
struct KvTierSummary {
  KvTierCounts counts;
  /// Of the links of a replica, the share of the run for which they were in use: 0 to 1, over it for copies
  /// that the run does not wait for. To be filled in.
  double store_share = 0, load_share = 0;

  /// Of all replicas together.
  void set_available(double link_seconds) {
    store_share = link_seconds > 0 ? to_seconds(counts.storing) / link_seconds : 0;
    load_share = link_seconds > 0 ? to_seconds(counts.loading) / link_seconds : 0;
  }
};

struct KvOffloadSummary {
  KvTierSummary host;
  std::optional<KvTierSummary> disk;  ///< absent without one
  std::int64_t replicas = 0;          ///< that have host memory
  std::int64_t block_size = 0;        ///< tokens
  Bytes block_bytes{};                ///< over all GPUs of a replica

  void set_duration(double seconds) {
    const double available = seconds * static_cast<double>(replicas);
    host.set_available(available);
    if (disk) {
      disk->set_available(available);
    }
  }
};

}  // namespace inferometer
