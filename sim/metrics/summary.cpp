#include "sim/metrics/summary.hpp"

#include <algorithm>

#include "costmodel/energy.hpp"

namespace inferometer {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::optional<double> optional_ratio(double part, double whole) {
  return whole > 0 ? std::optional<double>(part / whole) : std::nullopt;
}

void add_latencies(Summary& summary, const MetricsRecorder& recorder) {
  PercentileRule rule = PercentileRule::linear;
  if (summary.definitions == MetricDefinitions::mlperf) {
    rule = PercentileRule::floor_of_rank;
  }
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

void add_throughput(Summary& summary, const MetricsRecorder& recorder) {
  const double duration = summary.duration_seconds;
  const auto output = static_cast<double>(summary.total_output_tokens);
  summary.request_throughput = ratio(static_cast<double>(summary.completed), duration);
  summary.output_throughput = ratio(output, duration);
  summary.total_token_throughput = ratio(static_cast<double>(summary.total_input_tokens) + output, duration);
  summary.max_output_tokens_per_second = recorder.totals().max_emitted_per_second;
  summary.max_concurrent_requests = recorder.totals().max_in_system;
  if (!recorder.options().limits.any()) {
    return;
  }
  const auto good = static_cast<double>(recorder.totals().finished.good);
  summary.request_goodput = ratio(good, duration);
  summary.goodput_share = ratio(good, static_cast<double>(summary.completed + summary.failed));
}

PhaseSummary phase_summary(const PhaseTotals& phase, const SummarySettings& settings) {
  PhaseSummary summary;
  summary.steps = phase.steps;
  summary.seconds = to_seconds(phase.cost.total());
  summary.prefill_tokens = phase.prefill_tokens;
  summary.decode_tokens = phase.decode_tokens;
  if (phase.work) {
    summary.mfu = optional_ratio(phase.work->flops().count(), summary.seconds * settings.peak_flops.count());
    summary.mbu = optional_ratio(static_cast<double>(phase.work->hbm_bytes().count()),
                                 summary.seconds * settings.peak_bandwidth.count());
  }
  return summary;
}

void add_phases(Summary& summary, const RunTotals& totals, const SummarySettings& settings) {
  double flops = 0;
  double bytes = 0;
  bool has_work = false;
  PhaseSummary& all = summary.all_phases;
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    const PhaseTotals& phase = totals.phases[i];
    summary.phases[i] = phase_summary(phase, settings);
    all.steps += phase.steps;
    all.prefill_tokens += phase.prefill_tokens;
    all.decode_tokens += phase.decode_tokens;
    if (phase.work) {
      has_work = true;
      flops += phase.work->flops().count();
      bytes += static_cast<double>(phase.work->hbm_bytes().count());
    }
  }
  all.seconds = to_seconds(totals.cost().total());
  if (has_work) {
    all.mfu = optional_ratio(flops, all.seconds * settings.peak_flops.count());
    all.mbu = optional_ratio(bytes, all.seconds * settings.peak_bandwidth.count());
  }
}

TimeSplit time_split(const StepCost& cost, Duration whole) {
  const auto share = [&](Duration part) {
    return ratio(static_cast<double>(part.count()), static_cast<double>(whole.count()));
  };
  return {share(cost.compute), share(cost.bandwidth), share(cost.communication),
          share(cost.latency), share(cost.host),      share(whole - cost.total())};
}

void add_levels(Summary& summary, const RunTotals& totals, Duration whole) {
  const auto level = [&](const LevelTotals& sums) {
    const auto integral = static_cast<double>(sums.integral);
    return LevelSummary{ratio(integral, static_cast<double>(totals.cost().total().count())),
                        ratio(integral, static_cast<double>(whole.count())), sums.peak};
  };
  summary.kv_occupancy_blocks = level(totals.held_blocks);
  summary.batch_size = level(totals.decodes);
  summary.running = level(totals.running);
  summary.waiting = level({totals.waiting_integral(), totals.max_waiting});
}

void add_money(Summary& summary, DollarsPerHour price) {
  Money money;
  money.dollars_per_hour = price.count();
  money.dollars = price.count() * summary.duration_seconds / kSecondsPerHour;
  const auto output = static_cast<double>(summary.total_output_tokens);
  const double all = static_cast<double>(summary.total_input_tokens) + output;
  money.dollars_per_million_output_tokens = optional_ratio(money.dollars * kMillion, output);
  money.dollars_per_million_tokens = optional_ratio(money.dollars * kMillion, all);
  summary.money = money;
}

void add_energy(Summary& summary, const StepCost& busy, Duration whole, const SummarySettings& settings) {
  const Joules one_gpu_of_each = gpu_energy(settings.tdp, busy, whole - busy.total());
  Energy energy;
  energy.joules = one_gpu_of_each.count() * static_cast<double>(settings.gpus);
  energy.mean_watts = ratio(energy.joules, summary.duration_seconds);
  energy.joules_per_output_token =
      optional_ratio(energy.joules, static_cast<double>(summary.total_output_tokens));
  summary.energy = energy;
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
  add_latencies(summary, recorder);
  add_throughput(summary, recorder);
  summary.preemptions = totals.preemptions;
  summary.truncated = settings.truncated;
  summary.kv_blocks = settings.kv_blocks;
  add_phases(summary, totals, settings);
  if (!settings.partial) {
    summary.recomputed_tokens = summary.all_phases.prefill_tokens - summary.total_input_tokens;
  }
  summary.time_split = time_split(totals.cost(), duration * recorder.replicas());
  summary.extrapolated_share = ratio(static_cast<double>(totals.cost().extrapolated.count()),
                                     static_cast<double>(totals.cost().total().count()));
  add_levels(summary, totals, duration);
  if (settings.price) {
    add_money(summary, *settings.price);
  }
  if (settings.tdp > Watts(0)) {
    add_energy(summary, totals.cost(), duration * recorder.replicas(), settings);
  }
  summary.stability =
      judge_stability(totals.arrivals, settings.closed_loop, settings.estimated_capacity_per_second);
  return summary;
}

}  // namespace inferometer
