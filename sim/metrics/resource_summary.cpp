#include "sim/metrics/resource_summary.hpp"

#include <algorithm>

#include "costmodel/energy.hpp"
#include "sim/metrics/ratio.hpp"

namespace inferometer {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kThousand = 1e3;
constexpr double kMillion = 1e6;

double seconds_of(Int128 picoseconds) {
  return static_cast<double>(picoseconds) / kPicosecondsPerSecond;
}

/// For which the pool's replicas were there, in picoseconds.
Int128 paid_time(const PoolAccount& pool, Duration duration) {
  return pool.settings.paid_seconds ? static_cast<Int128>(*pool.settings.paid_seconds * kPicosecondsPerSecond)
                                    : Int128{duration.count()} * pool.pool.replicas;
}

/// That of one GPU, when it is the same in all pools.
template <class Peak>
double common_peak(std::span<const PoolAccount> pools, Peak PoolSettings::*peak) {
  const Peak first = pools.front().settings.*peak;
  const bool is_common = std::all_of(pools.begin(), pools.end(),
                                     [&](const PoolAccount& pool) { return pool.settings.*peak == first; });
  return is_common ? first.count() : 0;
}

/// What GPUs did in steps of some phases.
struct Work {
  bool is_known = true;
  double flops = 0, bytes = 0;

  void add(const PhaseTotals& phase) {
    is_known = is_known && phase.work;
    if (phase.work) {
      flops += phase.work->flops().count();
      bytes += phase.work->hbm_bytes_unbounded();
    }
  }
};

/// Steps of some phases, over all pools.
class PhaseSum {
 public:
  void add(const PhaseTotals& phase) {
    summary_.steps += phase.steps;
    summary_.prefill_tokens += phase.prefill_tokens;
    summary_.decode_tokens += phase.decode_tokens;
    time_ += phase.cost.sum().total();
    work_.add(phase);
  }

  [[nodiscard]] PhaseSummary summary(double peak_flops, double peak_bandwidth) const {
    PhaseSummary summary = summary_;
    summary.seconds = seconds_of(time_);
    if (work_.is_known) {
      summary.mfu = optional_ratio(work_.flops, summary.seconds * peak_flops);
      summary.mbu = optional_ratio(work_.bytes, summary.seconds * peak_bandwidth);
    }
    return summary;
  }

 private:
  PhaseSummary summary_;
  Int128 time_ = 0;
  Work work_;
};

void add_phases(ResourceSummary& summary, std::span<const PoolAccount> pools) {
  const double peak_flops = common_peak(pools, &PoolSettings::peak_flops);
  const double peak_bandwidth = common_peak(pools, &PoolSettings::peak_bandwidth);
  PhaseSum all;
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    PhaseSum sum;
    for (const PoolAccount& pool : pools) {
      sum.add(pool.totals.phases[i]);
      all.add(pool.totals.phases[i]);
    }
    summary.phases[i] = sum.summary(peak_flops, peak_bandwidth);
  }
  summary.all_phases = all.summary(peak_flops, peak_bandwidth);
}

TimeSplit time_split(const CostSum& cost, Int128 whole) {
  const auto share = [&](Int128 part) {
    return ratio(static_cast<double>(part), static_cast<double>(whole));
  };
  return {share(cost.compute), share(cost.bandwidth),       share(cost.communication), share(cost.latency),
          share(cost.host),    share(whole - cost.total()), share(cost.bubble)};
}

/// Micro-batches that each count the same thing.
using CountedBy = std::int64_t (*)(const RecordedPool&);

LevelSummary level(std::span<const PoolAccount> pools, LevelTotals PoolTotals::*which, CountedBy counted_by,
                   Int128 busy, Duration duration) {
  LevelSummary level;
  double integral = 0, in_all = 0;
  for (const PoolAccount& pool : pools) {
    const LevelTotals& totals = pool.totals.*which;
    integral += static_cast<double>(totals.integral);
    in_all += static_cast<double>(totals.integral) / static_cast<double>(counted_by(pool.pool));
    level.peak = std::max(level.peak, totals.peak);
  }
  level.mean_busy = ratio(integral, static_cast<double>(busy));
  level.mean_total = ratio(in_all, static_cast<double>(duration.count()));
  return level;
}

void add_levels(ResourceSummary& summary, std::span<const PoolAccount> pools, Int128 busy,
                Duration duration) {
  const auto by_lane = [](const RecordedPool&) { return std::int64_t{1}; };
  const auto by_replica = [](const RecordedPool& pool) { return pool.lanes; };
  summary.kv_occupancy_blocks = level(pools, &PoolTotals::held_blocks, by_replica, busy, duration);
  summary.batch_size = level(pools, &PoolTotals::decodes, by_lane, busy, duration);
  summary.running = level(pools, &PoolTotals::running, by_lane, busy, duration);
}

std::optional<Money> money(std::span<const PoolAccount> pools, const RunFigures& run) {
  Money money;
  bool comes_and_goes = false;
  for (const PoolAccount& pool : pools) {
    const PoolSettings& settings = pool.settings;
    if (!settings.price) {
      return std::nullopt;
    }
    comes_and_goes = comes_and_goes || settings.paid_seconds;
    money.dollars_per_hour += settings.price->count() * static_cast<double>(pool.pool.replicas);
    money.dollars += settings.price->count() * seconds_of(paid_time(pool, run.duration)) / kSecondsPerHour;
  }
  if (comes_and_goes) {
    money.dollars_per_hour = ratio(money.dollars * kSecondsPerHour, to_seconds(run.duration));
  }
  const auto output = static_cast<double>(run.output_tokens);
  const double all = static_cast<double>(run.input_tokens) + output;
  money.dollars_per_million_output_tokens = optional_ratio(money.dollars * kMillion, output);
  money.dollars_per_million_tokens = optional_ratio(money.dollars * kMillion, all);
  money.dollars_per_thousand_requests =
      optional_ratio(money.dollars * kThousand, static_cast<double>(run.requests));
  return money;
}

/// Of one GPU that does what the pool's micro-batches do on average; nothing when that is not known.
std::optional<Joules> mean_gpu_energy(const PoolAccount& pool, Duration duration) {
  const PoolSettings& settings = pool.settings;
  const auto lanes = static_cast<double>(pool.pool.all_lanes());
  double joules = 0, busy_s = 0;
  for (const PhaseTotals& phase : pool.totals.phases) {
    PhaseSum sum;
    sum.add(phase);
    const PhaseSummary summary = sum.summary(settings.peak_flops.count(), settings.peak_bandwidth.count());
    if (summary.seconds == 0) {
      continue;
    }
    if (!summary.mfu || !summary.mbu) {
      return std::nullopt;
    }
    const double seconds = summary.seconds / lanes;
    joules += power_in_steps(settings.tdp, *summary.mfu, *summary.mbu).count() * seconds;
    busy_s += seconds;
  }
  const double there_s = seconds_of(paid_time(pool, duration) * pool.pool.lanes) / lanes;
  return Joules(joules + power_unused(settings.tdp).count() * (there_s - busy_s));
}

std::optional<Energy> energy(std::span<const PoolAccount> pools, const RunFigures& run) {
  Energy energy;
  for (const PoolAccount& pool : pools) {
    const std::optional<Joules> of_one =
        pool.settings.tdp > Watts(0) ? mean_gpu_energy(pool, run.duration) : std::nullopt;
    if (!of_one) {
      return std::nullopt;
    }
    energy.joules += of_one->count() * static_cast<double>(pool.settings.gpus * pool.pool.replicas);
  }
  energy.mean_watts = ratio(energy.joules, to_seconds(run.duration));
  energy.joules_per_output_token = optional_ratio(energy.joules, static_cast<double>(run.output_tokens));
  energy.joules_per_request = optional_ratio(energy.joules, static_cast<double>(run.requests));
  return energy;
}

std::optional<SpeculationSummary> speculation(std::span<const PoolAccount> pools) {
  SpeculationSummary summary;
  DraftCounts& counts = summary.counts;
  for (const PoolAccount& pool : pools) {
    const DraftCounts& drafted = pool.totals.drafted;
    counts.add(drafted);
  }
  if (counts.drafts == 0) {
    return std::nullopt;
  }
  const auto drafts = static_cast<double>(counts.drafts);
  const auto accepted = static_cast<double>(counts.accepted_tokens);
  summary.acceptance_rate = accepted / static_cast<double>(counts.draft_tokens);
  summary.acceptance_length = 1 + accepted / drafts;
  for (std::size_t position = 0; position < static_cast<std::size_t>(counts.most_tokens); ++position) {
    summary.acceptance_by_position.push_back(static_cast<double>(counts.accepted_by_position[position]) /
                                             drafts);
  }
  return summary;
}

}  // namespace

ResourceSummary summarize_resources(std::span<const PoolAccount> pools, const RunFigures& run) {
  ResourceSummary summary;
  CostSum cost;
  Int128 whole = 0;
  for (const PoolAccount& pool : pools) {
    summary.preemptions += pool.totals.preemptions;
    summary.kv_blocks += pool.settings.kv_blocks;
    summary.replicas += pool.pool.replicas;
    cost += pool.totals.cost();
    whole += paid_time(pool, run.duration) * pool.pool.lanes;
  }
  summary.time_split = time_split(cost, whole);
  summary.extrapolated_share =
      ratio(static_cast<double>(cost.extrapolated), static_cast<double>(cost.total()));
  add_phases(summary, pools);
  add_levels(summary, pools, cost.total(), run.duration);
  summary.money = money(pools, run);
  summary.energy = energy(pools, run);
  summary.speculation = speculation(pools);
  return summary;
}

PoolSummary summarize_pool(const PoolAccount& pool, const RunFigures& run) {
  PoolSummary summary;
  static_cast<ResourceSummary&>(summary) = summarize_resources({&pool, 1}, run);
  summary.name = pool.pool.name;
  summary.role = pool.settings.role;
  summary.gpu = pool.settings.gpu;
  summary.gpus = pool.settings.gpus;
  summary.max_waiting = pool.totals.max_waiting;
  return summary;
}

}  // namespace inferometer
