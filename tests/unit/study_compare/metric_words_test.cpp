// Every metric that a study can compare is shown in the unit that its name says.

#include "sim/report/compare/metric_words.hpp"

#include "sim/study/outcome.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// From the end of the name, where units stand; "" for counts.
std::string unit_of(const std::string& metric) {
  const auto has = [&](const char* part) { return metric.find(part) != std::string::npos; };
  const bool is_of_tokens = metric == "output_throughput" || metric == "total_token_throughput";
  return metric.ends_with("_ms")                                             ? "ms"
         : metric.ends_with("_share")                                        ? "%"
         : has("dollars")                                                    ? "$"
         : has("joules")                                                     ? "J"
         : metric.ends_with("_watts")                                        ? "W"
         : is_of_tokens                                                      ? "tok/s"
         : has("throughput") || has("goodput") || metric.ends_with("_per_s") ? "req/s"
                                                                             : "";
}

TEST_CASE("metrics of studies are shown in the unit of their name") {
  for (const std::string& metric : study_metric_names()) {
    CAPTURE(metric);
    CHECK(metric_words(metric).unit == unit_of(metric));
    CHECK(metric_words(metric).per_unit == (metric.ends_with("_share") ? 100 : 1));
    CHECK(metric_words(metric).title.find('_') == std::string::npos);
  }
}

}  // namespace
}  // namespace inferometer
