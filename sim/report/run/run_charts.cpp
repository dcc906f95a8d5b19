#include "sim/report/run/run_charts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace inferometer {
namespace {

/// Shares of the values, in ten-thousandths, from `first` on in steps of `step`.
struct Stretch10k {
  std::int64_t first, end, step;
};
constexpr std::int64_t kWhole = 10'000;
constexpr std::array<Stretch10k, 4> kShares = {
    {{0, 9'000, 100}, {9'000, 9'900, 10}, {9'900, 9'990, 2}, {9'990, kWhole + 1, 1}}};

void add_curve(std::vector<LatencyCdf>& curves, const char* metric, const DurationDistribution& values) {
  if (values.count() > 0) {
    curves.push_back(latency_curve(metric, values));
  }
}

PoolRoofline roofs_of(const PoolSpec& pool) {
  PoolRoofline roofs;
  roofs.pool = to_string(pool.role);
  roofs.gpu = pool.gpu.name;
  roofs.bf16_peak = pool.gpu.bf16_peak;
  if (pool.model.weight_format.starts_with("fp8")) {
    roofs.fp8_peak = pool.gpu.fp8_peak;
  }
  roofs.bandwidth = pool.gpu.hbm_bandwidth;
  return roofs;
}

}  // namespace

std::vector<std::int64_t> cdf_ranks(std::int64_t count) {
  std::vector<std::int64_t> ranks;
  for (const Stretch10k& part : kShares) {
    for (std::int64_t share = part.first; share < part.end; share += part.step) {
      // The least value that so many are at or below.
      const Int128 at_or_below = (Int128{share} * count + kWhole - 1) / kWhole;
      const std::int64_t rank = std::max<std::int64_t>(static_cast<std::int64_t>(at_or_below) - 1, 0);
      if (ranks.empty() || rank > ranks.back()) {
        ranks.push_back(rank);
      }
    }
  }
  return ranks;
}

LatencyCdf latency_curve(const std::string& metric, const DurationDistribution& values) {
  LatencyCdf curve{metric, values.count(), {}};
  if (values.count() == 0) {
    return curve;
  }
  const std::vector<std::int64_t> ranks = cdf_ranks(values.count());
  const std::vector<std::int64_t> at = values.near_ranks(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    curve.points.push_back({to_milliseconds(Duration(at[i])),
                            static_cast<double>(ranks[i] + 1) / static_cast<double>(values.count())});
  }
  return curve;
}

RunChartRecorder::RunChartRecorder(const MetricsRecorder& recorder)
    : timeline_(recorder.pools()), roofline_(recorder.pools()) {
}

RunCharts RunChartRecorder::charts(const Deployment& deployment, const MetricsRecorder& recorder) const {
  RunCharts charts;
  charts.limits = recorder.options().limits;
  const RequestLatencies& latencies = recorder.latencies();
  add_curve(charts.latency, "ttft", latencies.ttft);
  add_curve(charts.latency, "gaps", recorder.gaps());
  add_curve(charts.latency, "tpot", latencies.tpot);
  add_curve(charts.latency, "e2el", latencies.e2el);
  charts.timeline = timeline_.timeline();
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    PoolRoofline roofs = roofs_of(deployment.pools[i].spec);
    for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
      roofs.phases[phase] = roofline_.cells(i, static_cast<StepPhase>(phase));
    }
    charts.rooflines.push_back(std::move(roofs));
  }
  return charts;
}

}  // namespace inferometer
