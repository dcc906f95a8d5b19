#include "sim/study/plan/work_demand.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {
namespace {

/// Shares of requests by output, up to which whole answers are asked for: a few that are much longer than
/// the others would leave all of them much time.
constexpr std::array<double, 4> kShortestAnswers = {0.5, 0.9, 0.99, 1};

std::string key_of(const SloTarget& target) {
  return fmt::format("{}_{} = {:g} ms", to_string(target.metric), to_string(target.statistic),
                     to_milliseconds(target.limit));
}

/// The percentiles that a limit is one of, or implies.
std::vector<ShareWithin> shares_within(const SloTargets& slo, LatencyMetric metric,
                                       const StatisticRules& rules) {
  const double sketched =
      rules.percentiles == Percentiles::sketch ? 1 / (1 - DurationDistribution::kSketchError) : 1;
  std::vector<ShareWithin> shares;
  for (const SloTarget& target : slo.targets) {
    const bool is_mean_gap =
        target.metric == LatencyMetric::itl && rules.definitions == MetricDefinitions::aiperf;
    if ((is_mean_gap ? LatencyMetric::tpot : target.metric) != metric) {
      continue;
    }
    const double limit = to_seconds(target.limit);
    if (target.statistic == LatencyStatistic::mean) {
      // Fewer than a half exceed twice the mean, fewer than a tenth ten times.
      shares.push_back({key_of(target), metric, 50, 2 * limit});
      shares.push_back({key_of(target), metric, 90, 10 * limit});
    } else {
      shares.push_back({key_of(target), metric, percent_of(target.statistic), sketched * limit});
    }
  }
  return shares;
}

ShareWithin relaxed(ShareWithin share, double factor) {
  share.limit_seconds *= factor;
  return share;
}

std::optional<ShareWithin> of_each(LatencyMetric metric, const std::optional<Duration>& limit) {
  if (!limit) {
    return std::nullopt;
  }
  return ShareWithin{"", metric, 0, to_seconds(*limit)};
}

void add_goodput_demands(const SloTargets& slo, std::vector<WorkDemand>& demands) {
  if (!slo.goodput_min) {
    return;
  }
  const std::string name = fmt::format("goodput_min = {:g}", *slo.goodput_min);
  const RequestLimits& limits = slo.request;
  if (limits.e2el) {
    demands.push_back({name, {}, {}, of_each(LatencyMetric::e2el, limits.e2el), slo.goodput_min});
  }
  if (limits.ttft) {
    demands.push_back({name,
                       of_each(LatencyMetric::ttft, limits.ttft),
                       of_each(LatencyMetric::tpot, limits.tpot),
                       {},
                       slo.goodput_min});
  }
}

/// How many of `count` values may be above their percentile's limit: the one at floor(p (count - 1) / 100) is
/// not, by either rule.
std::int64_t most_above(const std::optional<ShareWithin>& share, std::int64_t count) {
  return share && count > 0 ? count - 1 - share->percent * (count - 1) / 100 : 0;
}

/// Requests that are not turned away but need not keep the limits.
std::int64_t most_missing(const WorkDemand& demand, std::span<const RequestWork> admitted, std::int64_t all,
                          std::int64_t failed) {
  const auto count = static_cast<std::int64_t>(admitted.size());
  if (demand.good_share) {
    constexpr double kRounding = 1e-9;  // of shares
    const double good = *demand.good_share * static_cast<double>(all) * (1 - kRounding);
    return count - std::min(count, static_cast<std::int64_t>(std::ceil(good - kRounding)));
  }
  const auto with_tpot =
      std::count_if(admitted.begin(), admitted.end(), [](const RequestWork& work) { return work.later > 0; });
  return failed + most_above(demand.ttft, count) + most_above(demand.e2el, count) +
         most_above(demand.tpot, with_tpot);
}

/// The tightest time: over all requests, and over halves, quarters ... of the run, each of which may have all
/// that are missing. `busy`: by request, seconds of a unit. O(requests log requests).
WorkBound tightest(std::span<const RequestWork> works, const std::vector<double>& busy,
                   double deadline_seconds, std::int64_t missing) {
  WorkBound bound;
  const auto count = static_cast<std::int64_t>(works.size());
  std::vector<double> part;
  for (std::int64_t parts = 1; parts == 1 || count / parts > 2 * missing; parts *= 2) {
    if (count / parts == 0) {
      break;
    }
    for (std::int64_t i = 0; i < parts; ++i) {
      const auto begin = i * count / parts;
      const auto end = (i + 1) * count / parts;
      const std::int64_t kept = end - begin - missing;
      if (kept <= 0) {
        continue;
      }
      part.assign(busy.begin() + begin, busy.begin() + end);
      std::nth_element(part.begin(), part.begin() + (kept - 1), part.end());
      const double work = std::accumulate(part.begin(), part.begin() + kept, 0.0);
      const Duration arrivals =
          works[static_cast<std::size_t>(end - 1)].arrival - works[static_cast<std::size_t>(begin)].arrival;
      const double window = to_seconds(arrivals) + deadline_seconds;
      if (work / window > bound.units) {
        bound = {work / window, work, window, kept};
      }
    }
  }
  return bound;
}

void keep_tighter(const WorkBound& other, WorkBound& bound) {
  if (other.units > bound.units) {
    bound = other;
  }
}

/// Rates of pools together, each kind of work at the one that has it cheapest.
WorkRates rates_of_all(std::span<const PoolCost> pools, StepLimit limit, std::span<const RequestWork> works) {
  WorkRates rates = rates_of(pools.front(), limit, works);
  for (const PoolCost& pool : pools.subspan(1)) {
    rates = cheapest(rates, rates_of(pool, limit, works));
  }
  return rates;
}

double replicas_of(std::span<const PoolCost> pools) {
  double replicas = 0;
  for (const PoolCost& pool : pools) {
    replicas += static_cast<double>(pool.replicas);
  }
  return replicas;
}

class DemandOfRun {
 public:
  DemandOfRun(const WorkDemand& demand, std::span<const PoolCost> pools, std::vector<RequestWork> works,
              std::int64_t missing)
      : demand_(demand), pools_(pools), works_(std::move(works)), missing_(missing) {
    std::copy_if(pools.begin(), pools.end(), std::back_inserter(decoding_),
                 [](const PoolCost& pool) { return pool.decodes; });
  }

  WorkBound tightest_bound() const {
    WorkBound bound;
    if (demand_.e2el) {
      add_whole(demand_.e2el->limit_seconds, bound);
    }
    if (demand_.ttft) {
      add_prompts(demand_.ttft->limit_seconds, bound);
      if (demand_.tpot) {
        add_answers(bound);
      }
    }
    return bound;
  }

 private:
  static constexpr std::array<StepLimit, 3> kLimits = {StepLimit::tokens, StepLimit::sequences,
                                                       StepLimit::kv_cache};

  template <class WorkOf>
  [[nodiscard]] WorkBound bound(std::span<const PoolCost> pools, double deadline, WorkOf work_of) const {
    const double replicas = replicas_of(pools);
    std::vector<double> busy;
    busy.reserve(works_.size());
    for (const RequestWork& work : works_) {
      busy.push_back(work_of(work) / replicas);
    }
    return tightest(works_, busy, deadline, missing_);
  }

  /// Prompts are run by the deadline, and answers of up to so many tokens.
  void add(double deadline, std::int64_t most_later, WorkBound& best) const {
    for (const StepLimit limit : kLimits) {
      const WorkRates all = rates_of_all(pools_, limit, works_);
      keep_tighter(bound(pools_, deadline,
                         [&](const RequestWork& work) {
                           return work.later <= most_later ? all.whole(work) : all.prompt(work);
                         }),
                   best);
      if (decoding_.size() < pools_.size() && !decoding_.empty()) {
        const WorkRates there = rates_of_all(decoding_, limit, works_);
        keep_tighter(
            bound(decoding_, deadline,
                  [&](const RequestWork& work) { return work.later <= most_later ? there.later(work) : 0; }),
            best);
      }
    }
  }

  void add_whole(double deadline, WorkBound& best) const {
    add(deadline, std::numeric_limits<std::int64_t>::max(), best);
  }

  void add_prompts(double deadline, WorkBound& best) const {
    const WorkRates rates = rates_of_all(pools_, StepLimit::tokens, works_);
    keep_tighter(bound(pools_, deadline, [&](const RequestWork& work) { return rates.prompt(work); }), best);
  }

  /// The last token comes TTFT + (tokens after the first) x TPOT after the arrival.
  void add_answers(WorkBound& best) const {
    std::vector<std::int64_t> later;
    later.reserve(works_.size());
    for (const RequestWork& work : works_) {
      later.push_back(work.later);
    }
    std::sort(later.begin(), later.end());
    for (const double share : kShortestAnswers) {
      const auto place = static_cast<std::size_t>(share * static_cast<double>(later.size() - 1));
      const double longest = static_cast<double>(later[place]);
      add(demand_.ttft->limit_seconds + longest * demand_.tpot->limit_seconds, later[place], best);
    }
  }

  const WorkDemand& demand_;
  std::span<const PoolCost> pools_;
  std::vector<PoolCost> decoding_;
  std::vector<RequestWork> works_;
  std::int64_t missing_;
};

}  // namespace

std::vector<WorkDemand> work_demands(const SloTargets& slo, const StatisticRules& rules, std::int64_t seeds) {
  std::vector<WorkDemand> demands;
  for (const ShareWithin& e2el : shares_within(slo, LatencyMetric::e2el, rules)) {
    demands.push_back({e2el.name, {}, {}, e2el, {}});
  }
  const double together = seeds > 1 ? 2 : 1;
  const std::vector<ShareWithin> tpots = shares_within(slo, LatencyMetric::tpot, rules);
  for (const ShareWithin& ttft : shares_within(slo, LatencyMetric::ttft, rules)) {
    demands.push_back({ttft.name, ttft, {}, {}, {}});
    for (const ShareWithin& tpot : tpots) {
      demands.push_back(
          {ttft.name + " and " + tpot.name, relaxed(ttft, together), relaxed(tpot, together), {}, {}});
    }
  }
  add_goodput_demands(slo, demands);
  return demands;
}

WorkBound work_bound(const WorkDemand& demand, std::span<const PoolCost> pools,
                     std::span<const RequestWork> works, std::int64_t failed) {
  std::vector<RequestWork> admitted;
  admitted.reserve(works.size());
  std::copy_if(works.begin(), works.end(), std::back_inserter(admitted),
               [](const RequestWork& work) { return work.prompt > 0; });
  const std::int64_t missing =
      most_missing(demand, admitted, static_cast<std::int64_t>(works.size()), failed);
  if (missing >= static_cast<std::int64_t>(admitted.size())) {
    return {};
  }
  return DemandOfRun(demand, pools, std::move(admitted), missing).tightest_bound();
}

}  // namespace inferometer
