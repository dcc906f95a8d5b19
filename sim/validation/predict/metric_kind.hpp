#pragma once

// What a metric of headline_metrics(), or kLoneTtft, is about. Who uses it: intervals, whose part beyond the
// kernels differs by kind, and the judge.

#include <string_view>

namespace inferometer {

enum class MetricKind {
  throughput,   ///< requests or tokens per second: all that means something past saturation
  first_token,  ///< TTFT, alone or not, and the queue before it
  per_token,    ///< TPOT, ITL
  end_to_end,   ///< whole answers
  other,        ///< energy, cost
};

MetricKind kind_of(std::string_view metric);

}  // namespace inferometer
