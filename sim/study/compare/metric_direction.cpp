#include "sim/study/compare/metric_direction.hpp"

#include <algorithm>
#include <array>

namespace inferometer {
namespace {

constexpr std::array<std::string_view, 9> kHigherIsBetter = {
    "request_throughput",     "request_goodput",         "output_throughput",
    "total_token_throughput", "capacity_requests_per_s", "goodput_share",
    "completed_requests",     "fairness_share",          "prefix_hit_share",
};
constexpr std::array<std::string_view, 5> kNeither = {
    "kv_peak_share", "mfu_share", "mbu_share", "mean_batch_requests", "mean_power_watts",
};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Direction direction_of(std::string_view metric) {
  if (is_among(kHigherIsBetter, metric)) {
    return Direction::higher_is_better;
  }
  return is_among(kNeither, metric) ? Direction::neither : Direction::lower_is_better;
}

bool grows_with_queue(std::string_view metric) {
  return metric.ends_with("_ttft_ms") || metric.ends_with("_e2el_ms") || metric.ends_with("_queue_delay_ms");
}

}  // namespace inferometer
