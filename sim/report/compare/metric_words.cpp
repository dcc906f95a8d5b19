#include "sim/report/compare/metric_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

struct Known {
  std::string_view name;
  const char* title;
  const char* unit;
};

constexpr std::array kKnown = {
    Known{"request_throughput", "request throughput", "req/s"},
    Known{"request_goodput", "goodput", "req/s"},
    Known{"output_throughput", "output throughput", "tok/s"},
    Known{"total_token_throughput", "throughput with input", "tok/s"},
    Known{"capacity_requests_per_s", "estimated capacity", "req/s"},
    Known{"energy_joules", "energy", "J"},
    Known{"joules_per_output_token", "energy per output token", "J"},
    Known{"output_dollars_per_million_tokens", "cost per M output tokens", "$"},
    Known{"total_dollars_per_million_tokens", "cost per M tokens", "$"},
    Known{"dollars_per_thousand_requests", "cost per 1,000 requests", "$"},
    Known{"joules_per_request", "energy per request", "J"},
    Known{"dollars_per_hour", "price per hour", "$"},
    Known{"mean_power_watts", "power", "W"},
    Known{"goodput_share", "requests within limits", "%"},
    Known{"kv_peak_share", "KV cache at its fullest", "%"},
    Known{"prefix_hit_share", "prompt tokens found cached", "%"},
    Known{"mfu_share", "MFU", "%"},
    Known{"mbu_share", "MBU", "%"},
    Known{"load_share", "load of the estimated capacity", "%"},
    Known{"fairness_share", "fairness", "%"},
    Known{"mean_batch_requests", "decoding requests", ""},
};

/// Between a statistic and "_ms".
constexpr std::array kLatencies = {
    Known{"_ttft_ms", "TTFT", "ms"}, Known{"_tpot_ms", "TPOT", "ms"},
    Known{"_itl_ms", "ITL", "ms"},   Known{"_icl_ms", "ICL", "ms"},
    Known{"_e2el_ms", "E2E", "ms"},  Known{"_queue_delay_ms", "queue delay", "ms"},
};

}  // namespace

MetricWords metric_words(std::string_view metric) {
  for (const Known& latency : kLatencies) {
    if (metric.ends_with(latency.name)) {
      const std::string statistic(metric.substr(0, metric.size() - latency.name.size()));
      return {statistic + " " + latency.title, latency.unit, 1};
    }
  }
  for (const Known& known : kKnown) {
    if (metric == known.name) {
      return {known.title, known.unit, std::string_view(known.unit) == "%" ? 100.0 : 1.0};
    }
  }
  std::string words(metric);
  std::replace(words.begin(), words.end(), '_', ' ');
  return {words, "", 1};
}

std::string metric_heading(std::string_view metric) {
  const MetricWords words = metric_words(metric);
  return words.unit.empty() ? words.title : words.title + ", " + words.unit;
}

std::string metric_number(std::string_view metric, double value) {
  return short_number(value * metric_words(metric).per_unit);
}

std::string metric_amount(std::string_view metric, double value) {
  const MetricWords words = metric_words(metric);
  if (words.unit == "ms" && value >= 0) {
    return short_duration(value);
  }
  const std::string number = short_number(value * words.per_unit);
  if (words.unit == "$") {
    return "$" + number;
  }
  return words.unit.empty() ? number : number + " " + words.unit;
}

}  // namespace inferometer
