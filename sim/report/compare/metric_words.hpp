#pragma once

// Metrics of results.json as people read them. Who uses it: the reports of comparisons.

#include <string>
#include <string_view>

namespace inferometer {

struct MetricWords {
  std::string title;    ///< "p99 TTFT"
  std::string unit;     ///< "ms", "%", "$", "req/s"; may be empty
  double per_unit = 1;  ///< 100 for a share that is shown in percent
};

/// Of any name of study_metric_names(); of another its words, without a unit.
MetricWords metric_words(std::string_view metric);

/// "p99 TTFT, ms", for tables.
std::string metric_heading(std::string_view metric);

/// "220": in the unit of the heading.
std::string metric_number(std::string_view metric, double value);

/// "220 ms", "$0.322", "12.3 req/s".
std::string metric_amount(std::string_view metric, double value);

}  // namespace inferometer
