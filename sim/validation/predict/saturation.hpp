#pragma once

// How near a run came to all that its deployment can do. Who uses it: the judge, for past that point
// latencies tell how long a run was, and a small error of the capacity is a large one of theirs.

#include <optional>
#include <string>

#include "sim/metrics/summary.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

struct Saturation {
  static constexpr double kSaturatedLoad = 0.95;

  /// Share of the capacity: offered rate over the estimated one; in a closed loop clients over those that fit
  /// at once; 1 for all requests at once. Absent where there is no estimate.
  std::optional<double> load;
  bool is_saturated = false;
  std::string why;  ///< for people; "" unless it is saturated
};

/// Of arrivals at a rate: a load of kSaturatedLoad or more, or a queue that grew. Of a closed loop: more
/// clients than decoding replicas take sequences, or than their KV caches hold prompts and half of the
/// answers of (which is what a sequence has on average; believed only where a cache really was that full).
Saturation distance_to_saturation(const Scenario& scenario, const Deployment& deployment,
                                  const Summary& summary);

}  // namespace inferometer
