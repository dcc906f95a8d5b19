#pragma once

// What the charts of a run's page show, and the observers that record it. Who uses it: `inferometer run
// --report`, which lets them watch, and run_page(), which draws.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/metrics/roofline_recorder.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/metrics/timeline_recorder.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

/// The share of values at or below so many milliseconds.
struct CdfPoint {
  double ms = 0, share = 0;
};

struct LatencyCdf {
  std::string metric;            ///< "ttft", "gaps", "tpot", "e2el"
  std::int64_t count = 0;        ///< values
  std::vector<CdfPoint> points;  ///< both ascending; none without values
};

/// A cloud of steps with the roofs over it, of one pool.
struct PoolRoofline {
  std::string pool, gpu;
  FlopsPerSecond bf16_peak;
  std::optional<FlopsPerSecond> fp8_peak;  ///< when the pool's matrices run in fp8
  BytesPerSecond bandwidth;
  std::array<std::vector<RooflineCell>, kStepPhases> phases;  ///< by StepPhase
};

struct RunCharts {
  RequestLimits limits;             ///< of the SLO, on each request
  std::vector<LatencyCdf> latency;  ///< TTFT, gaps between tokens, TPOT, E2E; those with values
  Timeline timeline;
  std::vector<PoolRoofline> rooflines;  ///< in the recorder's order
};

/// Ranks from 0 on of some two hundred values that draw the distribution of `count` values, denser towards
/// its end: each hundredth up to 90 %, each thousandth up to 99 %, each fifth of a thousandth up to 99.9 %,
/// each ten-thousandth up to the largest. Ascending, none twice. Precondition: count >= 1.
std::vector<std::int64_t> cdf_ranks(std::int64_t count);

/// Empirical distribution: at the value of rank k (from 0 on) of n, the share (k + 1) / n. Values are within
/// DurationDistribution::kSketchError, closer than a chart shows, so that a curve takes no time.
LatencyCdf latency_curve(const std::string& metric, const DurationDistribution& values);

/// Watches a run for its charts.
class RunChartRecorder {
 public:
  /// Of the pools that `recorder` watches, whose work is known.
  explicit RunChartRecorder(const MetricsRecorder& recorder);

  [[nodiscard]] std::vector<SimulationObserver*> observers() { return {&timeline_, &roofline_}; }
  /// After the run, of which `recorder` kept the latencies.
  [[nodiscard]] RunCharts charts(const Deployment& deployment, const MetricsRecorder& recorder) const;

 private:
  TimelineRecorder timeline_;
  RooflineRecorder roofline_;
};

}  // namespace inferometer
