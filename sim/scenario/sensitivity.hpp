#pragma once

// How far a run's latencies move when its steps take a little longer or shorter: near saturation a small
// error of the prices becomes a large one of the queue. Who uses it: `inferometer run`.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

struct Sensitivity {
  struct Change {
    std::string metric;              ///< a latency of headline_metrics(): "mean_ttft_ms"
    double shorter = 0, longer = 0;  ///< relative change with steps that much shorter, and longer
  };

  double step_time = 0;  ///< by how much steps take longer or shorter, as a share
  std::vector<Change> changes;

  /// nullptr when there is none.
  [[nodiscard]] const Change* find(std::string_view metric) const;
};

/// Requests up to which a run is repeated for it unasked: two more runs then take well under a second.
inline constexpr std::int64_t kMostRequestsUnasked = 200'000;

/// By how much steps are to be longer and shorter after a run of so many requests; 0: not wanted.
double sensitivity_wanted(const Scenario& scenario, std::int64_t requests);

/// Repeats the run twice. Everything the system does takes longer or shorter alike: steps, transfers,
/// start-ups, and what befalls it on a schedule; clients stay as they are. `go_on`, when given, is asked now
/// and then; false ends it, and nothing comes out. Throws what a run throws.
std::optional<Sensitivity> estimate_sensitivity(const Scenario& scenario, const Deployment& deployment,
                                                const Summary& summary, double step_time,
                                                const std::function<bool()>& go_on = {});

}  // namespace inferometer
