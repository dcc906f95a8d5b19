#include "sim/metrics/headline_metrics.hpp"

#include <array>

namespace inferometer {
namespace {

void add_latency(std::vector<HeadlineMetric>& metrics, const std::string& name,
                 const std::optional<DurationStatistics>& statistics) {
  struct Statistic {
    const char* prefix;
    double DurationStatistics::*value;
  };
  static constexpr std::array<Statistic, 6> kStatistics = {{{"mean", &DurationStatistics::mean_ms},
                                                            {"median", &DurationStatistics::median_ms},
                                                            {"p50", &DurationStatistics::p50_ms},
                                                            {"p90", &DurationStatistics::p90_ms},
                                                            {"p95", &DurationStatistics::p95_ms},
                                                            {"p99", &DurationStatistics::p99_ms}}};
  for (const Statistic& statistic : kStatistics) {
    metrics.push_back({std::string(statistic.prefix) + "_" + name + "_ms",
                       statistics ? std::optional((*statistics).*statistic.value) : std::nullopt});
  }
}

std::optional<double> capacity_of(const StabilityReport& stability) {
  return stability.load && *stability.load > 0 ? std::optional(stability.offered_per_second / *stability.load)
                                               : std::nullopt;
}

}  // namespace

std::vector<HeadlineMetric> headline_metrics(const Summary& summary) {
  std::vector<HeadlineMetric> metrics = {
      {"request_throughput", summary.request_throughput},
      {"request_goodput", summary.request_goodput},
      {"output_throughput", summary.output_throughput},
      {"total_token_throughput", summary.total_token_throughput},
  };
  add_latency(metrics, "ttft", summary.ttft);
  add_latency(metrics, "tpot", summary.tpot);
  add_latency(metrics, "itl", summary.itl);
  add_latency(metrics, "icl", summary.icl);
  add_latency(metrics, "e2el", summary.e2el);
  add_latency(metrics, "queue_delay", summary.queue_delay);
  metrics.push_back({"capacity_requests_per_s", capacity_of(summary.stability)});
  std::optional<double> joules, joules_per_token, joules_per_request, output_dollars, total_dollars,
      request_dollars;
  if (summary.energy) {
    joules = summary.energy->joules;
    joules_per_token = summary.energy->joules_per_output_token;
    joules_per_request = summary.energy->joules_per_request;
  }
  if (summary.money) {
    output_dollars = summary.money->dollars_per_million_output_tokens;
    total_dollars = summary.money->dollars_per_million_tokens;
    request_dollars = summary.money->dollars_per_thousand_requests;
  }
  metrics.push_back({"energy_joules", joules});
  metrics.push_back({"joules_per_output_token", joules_per_token});
  metrics.push_back({"output_dollars_per_million_tokens", output_dollars});
  metrics.push_back({"total_dollars_per_million_tokens", total_dollars});
  metrics.push_back({"joules_per_request", joules_per_request});
  metrics.push_back({"dollars_per_thousand_requests", request_dollars});
  return metrics;
}

}  // namespace inferometer
