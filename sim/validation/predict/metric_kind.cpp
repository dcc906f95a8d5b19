#include "sim/validation/predict/metric_kind.hpp"

#include <array>
#include <utility>

namespace inferometer {

MetricKind kind_of(std::string_view metric) {
  static constexpr std::array<std::pair<std::string_view, MetricKind>, 9> kWords = {
      {{"throughput", MetricKind::throughput},
       {"goodput", MetricKind::throughput},
       {"capacity", MetricKind::throughput},
       {"ttft", MetricKind::first_token},
       {"queue_delay", MetricKind::first_token},
       {"tpot", MetricKind::per_token},
       {"itl", MetricKind::per_token},
       {"icl", MetricKind::per_token},
       {"e2el", MetricKind::end_to_end}}};
  for (const auto& [word, kind] : kWords) {
    if (metric.find(word) != std::string_view::npos) {
      return kind;
    }
  }
  return MetricKind::other;
}

}  // namespace inferometer
