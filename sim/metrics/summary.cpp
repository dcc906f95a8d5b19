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

bool meets(const RequestRecord& request, const RequestLimits& limits) {
  const Int128 gaps = request.output - 1;
  return (!limits.ttft || request.time_to_first_token() <= *limits.ttft) &&
         (!limits.tpot || request.generation().count() <= gaps * limits.tpot->count()) &&
         (!limits.e2el || request.latency() <= *limits.e2el);
}

void add_requests(Summary& summary, const MetricsRecorder& recorder) {
  PercentileRule rule = PercentileRule::linear;
  if (summary.definitions == MetricDefinitions::mlperf) {
    rule = PercentileRule::floor_of_rank;
  }
  for (const RequestRecord& request : recorder.finished()) {
    summary.total_input_tokens += request.prompt;
    summary.total_output_tokens += request.output;
  }
  // One after the other: a run has many requests, and each distribution holds a
  // value of every one.
  const auto statistics = [&](Duration (RequestRecord::*value)() const, std::int32_t least_output) {
    DurationDistribution distribution;
    for (const RequestRecord& request : recorder.finished()) {
      if (request.output >= least_output) {
        distribution.add((request.*value)());
      }
    }
    return distribution.statistics(rule);
  };
  summary.ttft = statistics(&RequestRecord::time_to_first_token, 1);
  summary.tpot = statistics(&RequestRecord::time_per_output_token, 2);
  summary.e2el = statistics(&RequestRecord::latency, 1);
  summary.queue_delay = statistics(&RequestRecord::queue_delay, 1);
  summary.itl = recorder.gaps().statistics(rule);
  if (summary.definitions == MetricDefinitions::aiperf) {
    summary.icl = summary.itl;
    summary.itl = summary.tpot;
  }
}

void add_throughput(Summary& summary, const MetricsRecorder& recorder, const RequestLimits& limits) {
  const double duration = summary.duration_seconds;
  const auto output = static_cast<double>(summary.total_output_tokens);
  summary.request_throughput = ratio(static_cast<double>(summary.completed), duration);
  summary.output_throughput = ratio(output, duration);
  summary.total_token_throughput = ratio(static_cast<double>(summary.total_input_tokens) + output, duration);
  summary.max_output_tokens_per_second = recorder.totals().max_emitted_per_second;
  summary.max_concurrent_requests = recorder.totals().max_in_system;
  if (!limits.any()) {
    return;
  }
  const auto good = static_cast<double>(
      std::count_if(recorder.finished().begin(), recorder.finished().end(),
                    [&](const RequestRecord& request) { return meets(request, limits); }));
  summary.request_goodput = ratio(good, duration);
  summary.goodput_share = ratio(good, static_cast<double>(summary.completed + summary.failed));
}

void add_rejections(Summary& summary, const MetricsRecorder& recorder) {
  for (const std::string& reason : recorder.rejection_reasons()) {
    summary.rejections.push_back({reason, 0});
  }
  for (const RejectedRecord& request : recorder.rejected()) {
    ++summary.rejections[static_cast<std::size_t>(request.reason)].requests;
  }
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

TimePoint end_of(const MetricsRecorder& recorder, bool partial) {
  TimePoint end = recorder.totals().arrivals.first;
  for (const RequestRecord& request : recorder.finished()) {
    end = std::max(end, request.finished);
  }
  return partial ? std::max(end, recorder.totals().last_event) : end;
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
  const Duration duration = end_of(recorder, settings.partial) - totals.arrivals.first;
  Summary summary;
  summary.definitions = settings.definitions;
  summary.partial = settings.partial;
  summary.census = settings.census;
  summary.duration_seconds = to_seconds(duration);
  summary.completed = static_cast<std::int64_t>(recorder.finished().size());
  summary.failed = static_cast<std::int64_t>(recorder.rejected().size());
  add_requests(summary, recorder);
  add_throughput(summary, recorder, settings.goodput_limits);
  add_rejections(summary, recorder);
  summary.preemptions = totals.preemptions;
  summary.truncated = settings.truncated;
  summary.kv_blocks = settings.kv_blocks;
  add_phases(summary, totals, settings);
  if (!settings.partial) {
    summary.recomputed_tokens = summary.all_phases.prefill_tokens - summary.total_input_tokens;
  }
  summary.time_split = time_split(totals.cost(), duration * recorder.replicas());
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
