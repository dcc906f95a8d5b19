#pragma once

// What a change does to a metric of a scenario, over pairs of runs that differ in nothing but the change.

#include <functional>
#include <string>
#include <vector>

#include "sim/metrics/summary.hpp"

namespace inferometer::testing {

using Metric = std::function<double(const Summary&)>;

/// Summaries of the scenario with `changes` laid over it as `--set` does, with seeds 1 to 10. Throws
/// std::runtime_error when a request of a run was not served.
std::vector<Summary> run_seeds(const std::string& text, const std::vector<std::string>& changes);

/// metric(first) - metric(second) of each pair. Precondition: as many of both, seed by seed. Throws
/// std::runtime_error when two of a pair did not have the same requests.
std::vector<double> differences(const std::vector<Summary>& first, const std::vector<Summary>& second,
                                const Metric& metric);

/// Two-sided 99 % interval of a mean, by Student's t.
struct Interval {
  double mean = 0;
  double half_width = 0;
};

/// Precondition: values of ten seeds.
Interval interval(const std::vector<double>& values);

/// The mean is above zero, and chance has no part in it.
bool is_positive(const std::vector<double>& values);

}  // namespace inferometer::testing
