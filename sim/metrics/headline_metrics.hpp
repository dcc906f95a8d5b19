#pragma once

// The figures by which runs are compared, under the names of results.json. Who uses it: uncertainty
// intervals.

#include <optional>
#include <string>
#include <vector>

#include "sim/metrics/summary.hpp"

namespace inferometer {

struct HeadlineMetric {
  std::string name;             ///< "p99_ttft_ms"
  std::optional<double> value;  ///< absent when the run has none
};

/// Throughputs, goodput, means and percentiles of latencies, capacity, energy and cost per token and request;
/// always the same names in the same order. Those that results.json has in another section:
/// capacity_requests_per_s (offered rate over load_share), energy_joules, joules_per_output_token,
/// output_dollars_per_million_tokens, total_dollars_per_million_tokens, joules_per_request,
/// dollars_per_thousand_requests.
std::vector<HeadlineMetric> headline_metrics(const Summary& summary);

}  // namespace inferometer
