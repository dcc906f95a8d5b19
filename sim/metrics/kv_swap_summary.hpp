#pragma once

#include "base/units.hpp"
#include "sim/batch/kv_swap.hpp"

namespace inferometer {

/// Sequences swapped to host memory and back, of all replicas that swap.
struct KvSwapSummary {
  KvSwapCounts counts;
  Bytes out_bytes{}, in_bytes{};  ///< over all GPUs of a replica
};

}  // namespace inferometer
