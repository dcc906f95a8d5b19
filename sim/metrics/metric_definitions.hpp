#pragma once

// Whose definition of a metric holds, where benchmarks of serving engines disagree, and how closely
// percentiles follow it: the words that a scenario has for these.

#include <array>
#include <string_view>

#include "sim/metrics/duration_statistics.hpp"

namespace inferometer {

/// TTFT, TPOT and E2E latency count from a request's arrival in all three: a simulated client sends at the
/// moment its arrival is due, so that "sent" (vLLM, AIPerf) and "scheduled" (MLPerf) are one moment.
enum class MetricDefinitions {
  vllm,    ///< ITL = all gaps between tokens, pooled over requests; percentiles interpolated
  aiperf,  ///< ITL = TPOT, one value a request; the pooled gaps are called ICL (inter-chunk latency)
  mlperf,  ///< as vllm, but a percentile is the sorted value at index floor(p * n)
};

/// In the order of the enumerators, as a scenario writes them.
inline constexpr std::array<std::string_view, 3> kMetricDefinitionNames = {"vllm", "aiperf", "mlperf"};

std::string_view to_string(MetricDefinitions definitions);
/// Precondition: one of kMetricDefinitionNames.
MetricDefinitions metric_definitions(std::string_view name);

/// In the order of the enumerators, as a scenario writes them.
inline constexpr std::array<std::string_view, 2> kPercentilesNames = {"exact", "sketch"};
/// Precondition: one of kPercentilesNames.
Percentiles percentiles(std::string_view name);

}  // namespace inferometer
