#include "sim/metrics/prefix_summary.hpp"

namespace inferometer {
namespace {

std::optional<double> mean_ms(Int128 picoseconds, std::int64_t requests) {
  constexpr double kPicosecondsPerMillisecond = 1e9;
  if (requests == 0) {
    return std::nullopt;
  }
  return static_cast<double>(picoseconds) / kPicosecondsPerMillisecond / static_cast<double>(requests);
}

}  // namespace

std::optional<PrefixSummary> prefix_summary(const RunTotals& totals) {
  const FinishTotals& finished = totals.finished;
  const PrefixTotals& prefixes = finished.prefixes;
  if (totals.arrivals.with_content == 0 && prefixes.cached.total() + prefixes.recached.total() == 0) {
    return std::nullopt;
  }
  PrefixSummary summary;
  summary.requests_with_hit = prefixes.hits;
  summary.cached = prefixes.cached;
  summary.recached = prefixes.recached;
  if (finished.prompt_tokens > 0) {
    summary.hit_rate =
        static_cast<double>(prefixes.cached.total()) / static_cast<double>(finished.prompt_tokens);
  }
  summary.mean_ttft_ms_hit = mean_ms(prefixes.ttft_of_hits, prefixes.hits);
  summary.mean_ttft_ms_miss = mean_ms(prefixes.ttft_of_misses, finished.count - prefixes.hits);
  return summary;
}

}  // namespace inferometer
