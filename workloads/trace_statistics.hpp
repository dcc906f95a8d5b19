#pragma once

// What a workload consists of, for people who look at a trace before they replay it.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/prefix_reuse.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

struct LengthStatistics {
  std::int64_t total_tokens = 0;
  double mean = 0;
  /// Linear between the two nearest requests, as numpy.percentile does it.
  double min = 0, p10 = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;
  /// Requests of 2^i to 2^(i+1) - 1 tokens.
  std::vector<std::int64_t> per_power_of_two;
};

struct TraceStatistics {
  std::int64_t requests = 0;
  Duration span;  ///< first to last arrival

  std::optional<double> mean_rate_per_s;  ///< 1 / mean gap; empty without a span
  /// Standard deviation of the gaps over their mean: 1 = Poisson, above = bursty. Empty below 3 requests.
  std::optional<double> gap_variation;
  std::int64_t peak_per_second = 0;  ///< most requests in [k, k+1) s
  std::int64_t peak_per_minute = 0;
  std::vector<std::int64_t> arrivals_over_time;  ///< in equal parts of the span

  LengthStatistics prompt;
  LengthStatistics output;
  /// Spearman's, with mean ranks for ties. Empty when all prompts or all outputs are equally long.
  std::optional<double> length_rank_correlation;

  std::int64_t requests_with_content = 0;  ///< of which the trace says what their prompts consist of
  PrefixReuse reuse;

  std::int64_t sessions = 0;
  std::int64_t requests_in_sessions = 0;
  std::int64_t most_turns = 0;          ///< requests in the longest session
  std::int64_t requests_that_wait = 0;  ///< for an answer, in place of an arrival of their own
};

/// Takes every request of `workload`, each answered at once, so that what waits for an answer comes too.
/// `hash_block_tokens`: what a hash id stands for, 0 = none. Memory: 24 bytes a request, and the distinct
/// runs of content (workloads/prefix_reuse.hpp) and sessions.
TraceStatistics gather_statistics(Workload& workload, std::int64_t hash_block_tokens);

/// numpy.percentile(values, 100 * share, method="linear"). Precondition: sorted, not empty, share in [0, 1].
double percentile(const std::vector<std::int64_t>& sorted, double share);

/// Spearman's rank correlation; empty when one side does not vary. Precondition: equally many. O(n log n).
std::optional<double> rank_correlation(const std::vector<std::int64_t>& a,
                                       const std::vector<std::int64_t>& b);

}  // namespace inferometer
