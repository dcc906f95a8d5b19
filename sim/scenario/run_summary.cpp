#include "sim/scenario/run_summary.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/metrics/metric_definitions.hpp"
#include "sim/scenario/capacity.hpp"

namespace inferometer {
namespace {

bool is_closed_loop(const Values& workload) {
  return workload.has("generator") && workload.text("generator") == "closed_loop";
}

}  // namespace

std::vector<RequestLengths> capacity_sample(const Deployment& deployment, const MetricsRecorder& recorder) {
  const std::vector<RequestLengths>& lengths = recorder.totals().finished.lengths.kept();
  const auto wanted = static_cast<std::size_t>(capacity_sample_size(deployment));
  const std::size_t count = std::min(wanted, lengths.size());
  std::vector<RequestLengths> sample;
  sample.reserve(count);
  for (std::size_t place = 0; place < count; ++place) {
    sample.push_back(lengths[place * lengths.size() / count]);
  }
  return sample;
}

MetricsRecorder make_recorder(const Scenario& scenario, bool keep_records) {
  RecorderOptions options;
  const Values& metrics = scenario.values.section("metrics");
  options.percentiles = percentiles(metrics.text("percentiles"));
  options.keep_records = keep_records;
  options.limits = scenario.slo.request;
  return MetricsRecorder(1, WorkTotals(scenario.model, scenario.tensor_parallel()), options);
}

Summary summarize_run(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                      const MetricsRecorder& recorder, std::span<const RequestLengths> sample, bool partial) {
  SummarySettings settings;
  settings.definitions = metric_definitions(scenario.values.section("metrics").text("definitions"));
  settings.census = simulation.census();
  for (const Replica& replica : simulation.lanes()) {
    settings.truncated += replica.truncated();
    settings.pools.front().kv_blocks += replica.state().blocks().total().count();
  }
  settings.partial = partial;
  settings.closed_loop = is_closed_loop(scenario.workload());
  PoolSettings& pool = settings.pools.front();
  pool.gpu = scenario.gpu.name;
  pool.gpus = scenario.tensor_parallel();
  pool.peak_flops = scenario.gpu.bf16_peak;
  pool.peak_bandwidth = scenario.gpu.hbm_bandwidth;
  pool.tdp = scenario.gpu.tdp;
  pool.price = scenario.gpu.price * static_cast<double>(pool.gpus);
  if (!settings.closed_loop) {
    const std::optional<PerSecond> rate = saturated_rate(scenario, deployment, sample);
    settings.estimated_capacity_per_second = rate ? std::optional(rate->count()) : std::nullopt;
  }
  return summarize(recorder, settings);
}

}  // namespace inferometer
