#include "sim/study/plan/work_demand.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {
namespace {

/// Shares of answers that are to end in a window, had all requests come at its last arrival: waiting for more
/// makes the window longer, which a few long answers may not be worth.
constexpr std::array<double, 4> kAnswersInWindow = {0.5, 0.9, 0.99, 1};

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

/// Times from arrival by which parts of a request's work are done, in seconds.
struct Deadlines {
  double prompt = 0;
  std::optional<double> last_token;  ///< that of a request of one token; absent: no matter when
  double per_later = 0;              ///< later for each token after the first
};

/// Seconds of a unit.
struct Busy {
  double prompt = 0;
  double later = 0;
};

/// The work of requests that must be done by the end of a window which is so long after the last arrival.
class WindowWork {
 public:
  /// `busy`: by request. Both outlive this object.
  WindowWork(std::span<const RequestWork> works, std::span<const Busy> busy, const Deadlines& deadlines,
             std::int64_t missing)
      : works_(works), busy_(busy), deadlines_(deadlines), missing_(missing) {}

  /// Of requests [begin, end), but for those that may be missing and have most of it.
  [[nodiscard]] WorkBound of(std::int64_t begin, std::int64_t end, double after_last) {
    const std::int64_t kept = end - begin - missing_;
    if (kept <= 0) {
      return {};
    }
    const TimePoint last = works_[static_cast<std::size_t>(end - 1)].arrival;
    parts_.clear();
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const double left = to_seconds(last - works_[i].arrival) + after_last;
      const double whole_by =
          deadlines_.last_token.value_or(0) + deadlines_.per_later * static_cast<double>(works_[i].later);
      const bool is_whole = deadlines_.last_token && whole_by <= left;
      parts_.push_back(busy_[i].prompt + (is_whole ? busy_[i].later : 0));
    }
    std::nth_element(parts_.begin(), parts_.begin() + (kept - 1), parts_.end());
    const double work = std::accumulate(parts_.begin(), parts_.begin() + kept, 0.0);
    const double window = to_seconds(last - works_[static_cast<std::size_t>(begin)].arrival) + after_last;
    return {work / window, work, window, kept};
  }

 private:
  std::span<const RequestWork> works_;
  std::span<const Busy> busy_;
  Deadlines deadlines_;
  std::int64_t missing_;
  std::vector<double> parts_;
};

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
    for (const RequestWork& work : works_) {
      later_.push_back(static_cast<double>(work.later));
    }
    std::sort(later_.begin(), later_.end());
  }

  [[nodiscard]] WorkBound tightest_bound() const {
    WorkBound bound;
    if (demand_.e2el) {
      const double limit = demand_.e2el->limit_seconds;
      add({limit, limit, 0}, bound);
    }
    if (demand_.ttft) {
      const double first = demand_.ttft->limit_seconds;
      // The last token comes TTFT + (tokens after the first) x TPOT after the arrival.
      demand_.tpot ? add({first, first, demand_.tpot->limit_seconds}, bound)
                   : add({first, std::nullopt, 0}, bound);
    }
    return bound;
  }

 private:
  void add(const Deadlines& deadlines, WorkBound& best) const {
    for (const StepLimit limit : {StepLimit::tokens, StepLimit::sequences, StepLimit::kv_cache}) {
      const WorkRates all = rates_of_all(pools_, limit, works_);
      add_place(
          pools_,
          [&](const RequestWork& work) {
            return Busy{all.prompt(work), all.later(work)};
          },
          deadlines, best);
      if (decoding_.size() < pools_.size() && !decoding_.empty()) {
        const WorkRates there = rates_of_all(decoding_, limit, works_);
        add_place(
            decoding_,
            [&](const RequestWork& work) {
              return Busy{0, there.later(work)};
            },
            deadlines, best);
      }
    }
  }

  /// Over all requests, and over halves, quarters ... of the run, each of which may have all that are
  /// missing.
  template <class WorkOf>
  void add_place(std::span<const PoolCost> pools, WorkOf work_of, const Deadlines& deadlines,
                 WorkBound& best) const {
    const double replicas = replicas_of(pools);
    std::vector<Busy> busy;
    busy.reserve(works_.size());
    for (const RequestWork& work : works_) {
      const Busy of_replica = work_of(work);
      busy.push_back({of_replica.prompt / replicas, of_replica.later / replicas});
    }
    WindowWork window(works_, busy, deadlines, missing_);
    const auto count = static_cast<std::int64_t>(works_.size());
    for (const double after_last : ends_of(deadlines)) {
      for (std::int64_t parts = 1; parts == 1 || count / parts > 2 * missing_; parts *= 2) {
        if (count / parts == 0) {
          break;
        }
        for (std::int64_t i = 0; i < parts; ++i) {
          keep_tighter(window.of(i * count / parts, (i + 1) * count / parts, after_last), best);
        }
      }
    }
  }

  /// When windows end after the last arrival: all its prompts must be done, and a share of its answers.
  [[nodiscard]] std::vector<double> ends_of(const Deadlines& deadlines) const {
    std::vector<double> ends = {deadlines.prompt};
    for (const double share : kAnswersInWindow) {
      const double end = deadlines.prompt +
                         deadlines.per_later *
                             later_[static_cast<std::size_t>(share * static_cast<double>(later_.size() - 1))];
      if (end > ends.back()) {
        ends.push_back(end);
      }
    }
    return ends;
  }

  const WorkDemand& demand_;
  std::span<const PoolCost> pools_;
  std::vector<PoolCost> decoding_;
  std::vector<RequestWork> works_;
  std::vector<double> later_;  // ascending
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
