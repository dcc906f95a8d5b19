#pragma once

// What a study keeps of one run of a scenario.

#include <string>
#include <string_view>
#include <vector>

#include "sim/metrics/headline_metrics.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// The distribution of a latency over requests (gaps between tokens, for ITL), thinned.
struct LatencyCurve {
  LatencyMetric metric{};
  std::vector<double> values_ms;  ///< at curve_shares(), in their order
};

/// Shares of requests at which curves are kept: ascending, densest towards 1.
const std::vector<double>& curve_shares();

struct Outcome {
  std::string error;  ///< why it could not be run; all else is empty then
  /// headline_metrics(), then goodput_share, completed_requests, failed_requests, truncated_requests,
  /// preemptions, kv_peak_share, prefix_hit_share, mfu_share, mbu_share, mean_batch_requests,
  /// mean_power_watts, dollars_per_hour, load_share.
  std::vector<HeadlineMetric> metrics;
  std::vector<SloVerdict> slo;
  QueueStability queue = QueueStability::not_applicable;
  std::string queue_sentence;
  double offered_per_second = 0;  ///< arrivals over the time in which they came; 0 without such a time
  TimeSplit time_split;
  double extrapolated_share = 0;     ///< of the time in steps
  std::vector<LatencyCurve> curves;  ///< TTFT, ITL, E2E, those that there are

  /// Absent when there is none of that name, or the run had no value.
  [[nodiscard]] std::optional<double> find(std::string_view metric) const;
};

/// Of what could not be run.
Outcome failed_outcome(std::string why);

/// Names of Outcome::metrics, in their order.
std::vector<std::string> study_metric_names();

/// Runs the scenario to its end: a pure function of the scenario and the files it names. What the user got
/// wrong (it does not fit, a broken trace) is the outcome's error.
Outcome evaluate(const Scenario& scenario);

/// The same on the scenario's deployment.
Outcome evaluate(const Scenario& scenario, const Deployment& deployment);

/// Every bit of it as text, and back; bytes of an error that are no UTF-8 become U+FFFD. Precondition: finite
/// numbers. Reading throws a std::exception for a text that is none.
std::string to_text(const Outcome& outcome);
Outcome outcome_from(const std::string& text);

}  // namespace inferometer
