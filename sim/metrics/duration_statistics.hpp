#pragma once

// Mean, spread and percentiles of a set of durations, as benchmarks of serving engines print them.

#include <cstdint>

namespace inferometer {

/// What percentiles are read off.
enum class Percentiles {
  exact,   ///< all values
  sketch,  ///< a histogram: 1/512 of the value away at most, in constant memory
};

/// How a percentile is read off n sorted values.
enum class PercentileRule {
  linear,         ///< numpy's default: position p/100 * (n - 1), straight line between the two neighbours
  floor_of_rank,  ///< MLPerf inference: the value at index floor(p/100 * n), the last one at most
};

/// Of at least one value, in milliseconds. `std_ms` is the population's (divided by n, as numpy does); the
/// median is numpy's under either rule.
struct DurationStatistics {
  std::int64_t count = 0;
  double mean_ms = 0, std_ms = 0, min_ms = 0, max_ms = 0;
  double median_ms = 0;
  double p50_ms = 0, p90_ms = 0, p95_ms = 0, p99_ms = 0;
};

}  // namespace inferometer
