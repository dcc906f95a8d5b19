#include "sim/scenario/run_summary.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/metrics/metric_definitions.hpp"
#include "sim/scenario/capacity.hpp"
#include "sim/scenario/cluster_config.hpp"
#include "sim/scenario/cluster_facts.hpp"

namespace inferometer {
namespace {

bool is_closed_loop(const Values& workload) {
  return workload.has("generator") && workload.text("generator") == "closed_loop";
}

PoolSettings settings_of(const PoolDeployment& pool, std::int64_t replicas) {
  PoolSettings settings;
  const GpuSpec& gpu = pool.spec.gpu;
  settings.role = to_string(pool.spec.role);
  settings.gpu = gpu.name;
  settings.gpus = pool.spec.gpus_per_replica();
  settings.kv_blocks = pool.limits.total_blocks * replicas;
  settings.peak_flops = gpu.bf16_peak;
  settings.peak_bandwidth = gpu.hbm_bandwidth;
  settings.tdp = gpu.tdp;
  settings.price = gpu.price * static_cast<double>(settings.gpus);
  return settings;
}

/// Policies that take host memory run in mixed pools, of which there is one.
std::optional<KvOffloadSummary> kv_offload_of(const Deployment& deployment, const Simulation& simulation) {
  const PoolDeployment& pool = deployment.front();
  if (!pool.replica.offload) {
    return std::nullopt;
  }
  KvOffloadSummary summary;
  summary.block_size = pool.replica.block_size;
  summary.block_bytes =
      pool.memory.kv_bytes_per_token * pool.replica.block_size * pool.spec.gpus_per_replica();
  KvOffloadCounts counts;
  for (const Replica& replica : simulation.lanes()) {
    counts = counts + replica.offload()->counts();
    ++summary.replicas;
  }
  summary.host.counts = counts.host;
  if (pool.replica.offload->tiers.size() > 1) {
    summary.disk = KvTierSummary{.counts = counts.disk};
  }
  return summary;
}

std::optional<KvSwapSummary> kv_swap_of(const Deployment& deployment, const Simulation& simulation) {
  std::optional<KvSwapSummary> summary;
  const std::span<const Replica> lanes = simulation.lanes();
  std::size_t first_lane = 0;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolDeployment& pool = deployment.pools[i];
    const auto pool_lanes = static_cast<std::size_t>(deployment.replicas(i)) * pool.pricers.size();
    if (pool.replica.swap) {
      const Bytes block_bytes =
          pool.memory.kv_bytes_per_token * pool.replica.block_size * pool.spec.gpus_per_replica();
      summary = summary.value_or(KvSwapSummary());
      for (const Replica& replica : lanes.subspan(first_lane, pool_lanes)) {
        const KvSwapCounts& counts = replica.swap_counts();
        summary->counts = summary->counts + counts;
        summary->out_bytes += block_bytes * counts.out_blocks;
        summary->in_bytes += block_bytes * counts.in_blocks;
      }
    }
    first_lane += pool_lanes;
  }
  return summary;
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
  options.frontend = frontend_latency(scenario);
  const std::vector<std::int64_t> replicas = most_replicas(scenario.values, scenario.pools);
  std::vector<RecordedPool> pools;
  for (std::size_t i = 0; i < scenario.pools.size(); ++i) {
    const PoolSpec& pool = scenario.pools[i];
    pools.push_back({.name = std::string(to_string(pool.role)),
                     .replicas = replicas[i],
                     .lanes = pool.pipeline_parallel,
                     .work = WorkTotals(pool.model, pool.split())});
  }
  return MetricsRecorder(std::move(pools), {}, options);
}

Summary summarize_run(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                      const MetricsRecorder& recorder, std::span<const RequestLengths> sample, bool partial) {
  SummarySettings settings;
  settings.definitions = metric_definitions(scenario.values.section("metrics").text("definitions"));
  settings.census = simulation.census();
  for (const Replica& replica : simulation.lanes()) {
    settings.truncated += replica.truncated();
  }
  for (const PoolSpec& pool : scenario.pools) {
    const PolicyEntry* policy = policy_registry().find(pool.engine.text("policy"));
    settings.overtakes = settings.overtakes || (policy != nullptr && policy->overtakes);
  }
  settings.kv_offload = kv_offload_of(deployment, simulation);
  settings.kv_swap = kv_swap_of(deployment, simulation);
  settings.partial = partial;
  settings.closed_loop = is_closed_loop(scenario.workload());
  settings.pools.clear();
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    settings.pools.push_back(settings_of(deployment.pools[i], deployment.replicas(i)));
  }
  if (const Coordinator* const coordinator = simulation.coordinator()) {
    const RunTotals& totals = recorder.totals();
    const TimePoint end = partial ? totals.last_event : totals.finished.last;
    settings.cluster = cluster_facts(*coordinator, end);
    for (std::size_t i = 0; i < settings.pools.size(); ++i) {
      settings.pools[i].paid_seconds = paid_seconds(*coordinator, i, end);
    }
  }
  if (!settings.closed_loop) {
    const std::optional<PerSecond> rate = saturated_rate(deployment, sample);
    settings.estimated_capacity_per_second = rate ? std::optional(rate->count()) : std::nullopt;
  }
  return summarize(recorder, settings);
}

}  // namespace inferometer
