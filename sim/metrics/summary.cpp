#include "sim/metrics/summary.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "sim/metrics/ratio.hpp"

namespace inferometer {
namespace {

PercentileRule rule_of(MetricDefinitions definitions) {
  return definitions == MetricDefinitions::mlperf ? PercentileRule::floor_of_rank : PercentileRule::linear;
}

void add_latencies(Summary& summary, const MetricsRecorder& recorder) {
  const PercentileRule rule = rule_of(summary.definitions);
  const RequestLatencies& latencies = recorder.latencies();
  summary.ttft = latencies.ttft.statistics(rule);
  summary.tpot = latencies.tpot.statistics(rule);
  summary.e2el = latencies.e2el.statistics(rule);
  summary.queue_delay = latencies.queue_delay.statistics(rule);
  summary.itl = recorder.gaps().statistics(rule);
  if (summary.definitions == MetricDefinitions::aiperf) {
    summary.icl = summary.itl;
    summary.itl = summary.tpot;
  }
}

void add_fairness(Summary& summary, const MetricsRecorder& recorder, bool overtakes) {
  const PercentileRule rule = rule_of(summary.definitions);
  FairnessSummary& fairness = summary.fairness;
  fairness.share = recorder.fairness().jain_index();
  for (const FairnessTotals::Priority* priority : recorder.fairness().priorities()) {
    fairness.priorities.push_back({priority->priority, priority->completed, priority->ttft.statistics(rule),
                                   priority->e2el.statistics(rule)});
  }
  fairness.matters = overtakes || !fairness.priorities.empty();
}

void add_throughput(Summary& summary, const MetricsRecorder& recorder) {
  const double duration = summary.duration_seconds;
  const auto output = static_cast<double>(summary.total_output_tokens);
  summary.request_throughput = ratio(static_cast<double>(summary.completed), duration);
  summary.output_throughput = ratio(output, duration);
  summary.total_token_throughput = ratio(static_cast<double>(summary.total_input_tokens) + output, duration);
  summary.max_output_tokens_per_second = recorder.max_emitted_per_second();
  summary.max_concurrent_requests = recorder.totals().max_in_system;
  if (!recorder.options().limits.any()) {
    return;
  }
  const auto good = static_cast<double>(recorder.totals().finished.good);
  summary.request_goodput = ratio(good, duration);
  summary.goodput_share = ratio(good, static_cast<double>(summary.completed + summary.failed));
}

void add_resources(Summary& summary, const MetricsRecorder& recorder, const SummarySettings& settings,
                   Duration duration) {
  const RunTotals& totals = recorder.totals();
  INFEROMETER_CHECK(settings.pools.size() == totals.pools.size(), "each pool has its settings");
  const RunFigures run{duration, summary.total_input_tokens, summary.total_output_tokens, summary.completed};
  std::vector<PoolAccount> accounts;
  for (std::size_t i = 0; i < settings.pools.size(); ++i) {
    accounts.push_back({recorder.pools()[i], totals.pools[i], settings.pools[i]});
    summary.pools.push_back(summarize_pool(accounts.back(), run));
  }
  static_cast<ResourceSummary&>(summary) = summarize_resources(accounts, run);
  const auto waiting = static_cast<double>(totals.waiting_integral());
  summary.waiting = {ratio(waiting, static_cast<double>(totals.cost().total())),
                     ratio(waiting, static_cast<double>(duration.count())), totals.max_waiting()};
}

TimePoint end_of(const RunTotals& totals, bool partial) {
  return std::max({totals.arrivals.first, totals.finished.last, partial ? totals.last_event : TimePoint()});
}

}  // namespace

const DurationStatistics* Summary::find(LatencyMetric metric) const {
  const auto pointer = [](const std::optional<DurationStatistics>& statistics) {
    return statistics ? &*statistics : nullptr;
  };
  switch (metric) {
    case LatencyMetric::ttft:
      return pointer(ttft);
    case LatencyMetric::tpot:
      return pointer(tpot);
    case LatencyMetric::itl:
      return pointer(itl);
    case LatencyMetric::e2el:
      return pointer(e2el);
  }
  return nullptr;
}

Summary summarize(const MetricsRecorder& recorder, const SummarySettings& settings) {
  const RunTotals& totals = recorder.totals();
  const Duration duration = end_of(totals, settings.partial) - totals.arrivals.first;
  Summary summary;
  summary.definitions = settings.definitions;
  summary.partial = settings.partial;
  summary.census = settings.census;
  summary.duration_seconds = to_seconds(duration);
  summary.completed = totals.finished.count;
  summary.total_input_tokens = totals.finished.prompt_tokens;
  summary.total_output_tokens = totals.finished.output_tokens;
  summary.rejections = totals.rejections;
  for (const RejectionCount& rejection : summary.rejections) {
    summary.failed += rejection.requests;
  }
  for (const RejectionCount& loss : totals.losses) {
    summary.failed += loss.requests;
  }
  add_latencies(summary, recorder);
  add_fairness(summary, recorder, settings.overtakes);
  add_throughput(summary, recorder);
  summary.prefixes = prefix_summary(totals);
  summary.kv_offload = settings.kv_offload;
  if (summary.kv_offload) {
    summary.kv_offload->set_duration(summary.duration_seconds);
  }
  summary.kv_swap = settings.kv_swap;
  summary.truncated = settings.truncated;
  add_resources(summary, recorder, settings, duration);
  if (!settings.partial) {
    summary.recomputed_tokens = summary.all_phases.prefill_tokens -
                                (summary.total_input_tokens - totals.finished.prefixes.cached.total());
  }
  summary.cluster = settings.cluster;
  if (summary.cluster) {
    summary.cluster->lost = totals.losses;
    summary.cluster->transfers.handover =
        recorder.latencies().handover.statistics(rule_of(settings.definitions));
  }
  const bool caches_spared_work = summary.prefixes && summary.prefixes->cached.total() > 0;
  summary.stability = judge_stability(totals.arrivals, settings.closed_loop,
                                      settings.estimated_capacity_per_second, caches_spared_work);
  return summary;
}

}  // namespace inferometer
