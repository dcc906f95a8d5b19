#include "sim/report/sensitivity_sentence.hpp"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {

std::string sensitivity_sentence(const Sensitivity& sensitivity, const Summary& summary) {
  struct Latency {
    const char* label;
    const char* metric;
    const std::optional<DurationStatistics>* statistics;
  };
  const std::array<Latency, 3> latencies = {{{"TTFT", "mean_ttft_ms", &summary.ttft},
                                             {"TPOT", "mean_tpot_ms", &summary.tpot},
                                             {"E2E", "mean_e2el_ms", &summary.e2el}}};
  std::string moved;
  for (const Latency& latency : latencies) {
    const MovedMetric* const found = sensitivity.find(latency.metric);
    if (found == nullptr || !latency.statistics->has_value() || (*latency.statistics)->mean_ms <= 0) {
      continue;
    }
    const double change = found->plus / (*latency.statistics)->mean_ms - 1;
    moved += fmt::format("{}{} {}{} %", moved.empty() ? "mean " : ", ", latency.label, change < 0 ? "-" : "+",
                         short_number(100 * std::abs(change)));
  }
  return fmt::format("steps {:g} % longer: {}", 100 * sensitivity.step_time,
                     moved.empty() ? "no latency to compare" : moved);
}

}  // namespace inferometer
