#pragma once

#include <cstdint>
#include <optional>

#include "sim/kvcache/prefix_cache.hpp"
#include "sim/metrics/run_totals.hpp"

namespace inferometer {

/// What prefix caches saved the requests that completed.
struct PrefixSummary {
  std::int64_t requests_with_hit = 0;
  PrefixSources cached;                     ///< prompt tokens found when requests were first admitted
  PrefixSources recached;                   ///< tokens found again after preemptions
  double hit_rate = 0;                      ///< cached tokens of all prompt tokens, 0 to 1
  std::optional<double> mean_ttft_ms_hit;   ///< of requests that found some of their prompt
  std::optional<double> mean_ttft_ms_miss;  ///< of the others
};

/// Nothing when no prompt could be told from others, and nothing was found.
std::optional<PrefixSummary> prefix_summary(const RunTotals& totals);

}  // namespace inferometer
