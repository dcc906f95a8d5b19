#include "sim/metrics/metric_definitions.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

std::string_view to_string(MetricDefinitions definitions) {
  return kMetricDefinitionNames[static_cast<std::size_t>(definitions)];
}

MetricDefinitions metric_definitions(std::string_view name) {
  const auto* const found = std::find(kMetricDefinitionNames.begin(), kMetricDefinitionNames.end(), name);
  INFEROMETER_CHECK(found != kMetricDefinitionNames.end(), "the name of a known set of definitions");
  return static_cast<MetricDefinitions>(found - kMetricDefinitionNames.begin());
}

Percentiles percentiles(std::string_view name) {
  const auto* const found = std::find(kPercentilesNames.begin(), kPercentilesNames.end(), name);
  INFEROMETER_CHECK(found != kPercentilesNames.end(), "a scenario's word for percentiles");
  return static_cast<Percentiles>(found - kPercentilesNames.begin());
}

}  // namespace inferometer
