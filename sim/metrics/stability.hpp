#pragma once

// Did the queue settle, or did it grow as long as requests came? A latency of a growing queue describes the
// length of the run, not the system, so nobody should read it as a steady state.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/metrics/run_totals.hpp"

namespace inferometer {

enum class QueueStability { stable, unstable, not_applicable };
std::string_view to_string(QueueStability stability);

struct StabilityReport {
  QueueStability verdict = QueueStability::not_applicable;
  std::string sentence;                ///< why, for people
  double offered_per_second = 0;       ///< arrivals over the arrival window; 0 without a window
  std::optional<double> growth_share;  ///< of the arrivals in the second half, how many the system kept
  std::optional<double> load;  ///< offered rate over the estimated capacity, when there is an estimate
  /// The estimate computes every prompt in full, but caches of prefixes spared some: the load is at most
  /// this.
  bool is_without_caches = false;
};

/// The rule. Each arrival counts the requests it finds in the system; over the second half of the arrivals a
/// straight line is fitted to that count (least squares). Its slope is the share of arrivals that the system
/// does not get rid of. The run is unstable when
///   - that share is over 5 %, and
///   - more requests wait at the last arrival than chance explains: over 4 * sqrt(A * max(1, c^2)), where A
///     is the number of arrivals in the second half and c^2 the squared coefficient of variation of the gaps
///     between arrivals (1 for Poisson): four standard deviations of the number that arrive.
/// It is unstable too when so many wait and more than 105 % of the estimated capacity is offered, a margin of
/// some three standard deviations of the estimate: then the second half of the trace was only the calmer one.
/// Not when the estimate leaves out what caches of prefixes spare (`without_caches`): it is too low then.
/// Otherwise it is stable, unless the share is over 5 % and makes more than that many requests: then it was
/// still filling up at its end, and too short to say. Not applicable either: closed loops (they hold
/// themselves back), all requests at once, fewer than 100 arrivals. O(samples).
StabilityReport judge_stability(const ArrivalTotals& arrivals, bool closed_loop,
                                std::optional<double> estimated_capacity_per_second,
                                bool without_caches = false);

}  // namespace inferometer
