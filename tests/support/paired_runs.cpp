#include "tests/support/paired_runs.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/support/scenario_run.hpp"

namespace inferometer::testing {
namespace {

constexpr int kSeeds = 10;
/// 0.995 quantile of Student's t with kSeeds - 1 degrees of freedom, from tables.
constexpr double kStudent = 3.250;

}  // namespace

std::vector<Summary> run_seeds(const std::string& text, const std::vector<std::string>& changes) {
  std::vector<Summary> summaries;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    std::vector<std::string> all = changes;
    all.push_back(fmt::format("seed={}", seed));
    summaries.push_back(run_scenario(text, all).summary);
    const Census& census = summaries.back().census;
    if (census.completed != census.injected) {
      throw std::runtime_error(
          fmt::format("seed {}: {} of {} requests were served", seed, census.completed, census.injected));
    }
  }
  return summaries;
}

std::vector<double> differences(const std::vector<Summary>& first, const std::vector<Summary>& second,
                                const Metric& metric) {
  std::vector<double> values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].total_input_tokens != second[i].total_input_tokens ||
        first[i].total_output_tokens != second[i].total_output_tokens) {
      throw std::runtime_error("the two runs of a pair did not have the same requests");
    }
    values.push_back(metric(first[i]) - metric(second[i]));
  }
  return values;
}

Interval interval(const std::vector<double>& values) {
  if (values.size() != static_cast<std::size_t>(kSeeds)) {
    throw std::logic_error("an interval is of ten seeds");
  }
  Interval result;
  for (const double value : values) {
    result.mean += value / kSeeds;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - result.mean) * (value - result.mean);
  }
  result.half_width = kStudent * std::sqrt(squares / (kSeeds - 1) / kSeeds);
  return result;
}

bool is_positive(const std::vector<double>& values) {
  const Interval found = interval(values);
  return found.mean > found.half_width;
}

}  // namespace inferometer::testing
