#include "sim/study/plan/plan_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sim/study/plan/latency_floors.hpp"
#include "sim/study/plan/plan_work.hpp"
#include "sim/study/plan/work_demand.hpp"

namespace inferometer {
namespace {

/// By which part a double may be off after all its sums.
constexpr double kRounding = 1e-6;

std::string ms_in_words(double seconds) {
  return fmt::format("{:.3g} ms", seconds * 1e3);
}

StatisticRules rules_of(const Scenario& scenario) {
  const Values& metrics = scenario.values.section("metrics");
  return {metric_definitions(metrics.text("definitions")), percentiles(metrics.text("percentiles"))};
}

/// Why a latency cannot be lower.
std::string cause_of(LatencyMetric metric, const Deployment& unit) {
  const PoolDeployment* decode = nullptr;
  for (const PoolDeployment& pool : unit.pools) {
    if (pool.spec.role != PoolRole::prefill && decode == nullptr) {
      decode = &pool;
    }
  }
  if (metric == LatencyMetric::ttft || decode == nullptr) {
    return "prompts by themselves on a replica take that long";
  }
  return fmt::format("a step by itself takes that long, with {} of weights on each GPU and {:.3g} TB/s",
                     gigabytes(decode->memory.weights), decode->spec.gpu.hbm_bandwidth.count() / 1e12);
}

/// One of the bounds at a time, over all seeds.
class Bounds {
 public:
  Bounds(const Scenario& scenario, const Deployment& unit, const SloTargets& slo,
         const std::vector<std::vector<TrafficRequest>>& traffic, double failed_max)
      : unit_(unit),
        slo_(slo),
        traffic_(traffic),
        failed_max_(failed_max),
        rules_(rules_of(scenario)),
        pools_(pool_costs(unit)) {
    std::int64_t requests = 0;
    for (const std::vector<TrafficRequest>& seed : traffic) {
      works_.push_back(works_of(seed, unit));
      requests += static_cast<std::int64_t>(seed.size());
    }
    // One run may have the failures of all.
    failed_ = static_cast<std::int64_t>(failed_max * static_cast<double>(requests) * (1 + kRounding));
    for (const std::vector<RequestWork>& works : works_) {
      floors_.push_back(latency_floors(pools_, works, slo.request));
    }
  }

  /// Why no size meets the SLO; "" when that is not proven.
  [[nodiscard]] std::string impossible() const {
    std::string reason = too_many_rejected();
    for (std::size_t i = 0; i < slo_.targets.size() && reason.empty(); ++i) {
      reason = over(slo_.targets[i]);
    }
    return reason.empty() && slo_.goodput_min ? goodput_missed() : reason;
  }

  /// The fewest units, and why.
  [[nodiscard]] PlanBound least() const {
    PlanBound bound;
    for (const WorkDemand& demand : work_demands(slo_, rules_, static_cast<std::int64_t>(works_.size()))) {
      WorkBound easiest;
      easiest.units = std::numeric_limits<double>::max();
      for (const std::vector<RequestWork>& works : works_) {
        const WorkBound of_seed = work_bound(demand, pools_, works, failed_);
        if (of_seed.units < easiest.units) {
          easiest = of_seed;
        }
      }
      const auto units = static_cast<std::int64_t>(std::ceil(easiest.units * (1 - kRounding)));
      if (units > bound.least_units) {
        bound.least_units = units;
        bound.reason =
            fmt::format("{}: of {} requests there is work for {:.2f} s of a unit, to be done in {:.2f} s",
                        demand.name, easiest.requests, easiest.busy_seconds, easiest.window_seconds);
      }
    }
    return bound;
  }

 private:
  [[nodiscard]] std::string too_many_rejected() const {
    std::int64_t longest = 0;
    for (const PoolDeployment& pool : unit_.pools) {
      longest = std::max(longest, pool.limits.max_model_len);
    }
    double least_share = 1;
    for (const std::vector<TrafficRequest>& seed : traffic_) {
      const auto rejected = std::count_if(seed.begin(), seed.end(), [longest](const TrafficRequest& request) {
        return request.prompt >= longest;
      });
      least_share = std::min(least_share, static_cast<double>(rejected) /
                                              static_cast<double>(std::max<std::size_t>(seed.size(), 1)));
    }
    return least_share > failed_max_ * (1 + kRounding)
               ? fmt::format(
                     "{:.3g} % of the prompts leave no room for a token in max_model_len {}, and "
                     "{:.3g} % of the requests may fail",
                     100 * least_share, longest, 100 * failed_max_)
               : "";
  }

  [[nodiscard]] std::string over(const SloTarget& target) const {
    double sum = 0;
    for (const LatencyFloors& floors : floors_) {
      const std::optional<double> least =
          least_statistic_seconds(floors, target.metric, target.statistic, rules_, failed_);
      if (!least) {
        return "";
      }
      sum += *least;
    }
    const double mean = sum / static_cast<double>(floors_.size());
    const double limit = to_seconds(target.limit);
    return mean > limit * (1 + kRounding)
               ? fmt::format("{}_{} is at least {} ({}), limit {}", to_string(target.metric),
                             to_string(target.statistic), ms_in_words(mean), cause_of(target.metric, unit_),
                             ms_in_words(limit))
               : "";
  }

  [[nodiscard]] std::string goodput_missed() const {
    double sum = 0;
    for (std::size_t i = 0; i < floors_.size(); ++i) {
      sum += static_cast<double>(floors_[i].good) /
             static_cast<double>(std::max<std::size_t>(works_[i].size(), 1));
    }
    const double share = sum / static_cast<double>(floors_.size());
    return share < *slo_.goodput_min * (1 - kRounding)
               ? fmt::format(
                     "no more than {:.3g} % of the requests can keep their limits, each by itself on "
                     "a replica; goodput_min is {:.3g} %",
                     100 * share, 100 * *slo_.goodput_min)
               : "";
  }

  const Deployment& unit_;
  const SloTargets& slo_;
  const std::vector<std::vector<TrafficRequest>>& traffic_;
  double failed_max_;
  StatisticRules rules_;
  std::vector<PoolCost> pools_;
  std::int64_t failed_ = 0;
  std::vector<std::vector<RequestWork>> works_;
  std::vector<LatencyFloors> floors_;
};

}  // namespace

PlanBound plan_bound(const Scenario& scenario, const Deployment& unit, const SloTargets& slo,
                     const std::vector<std::vector<TrafficRequest>>& traffic, double failed_max) {
  if (traffic.empty()) {
    return {};
  }
  const Bounds bounds(scenario, unit, slo, traffic, failed_max);
  if (const std::string reason = bounds.impossible(); !reason.empty()) {
    return {.least_units = 0, .is_impossible = true, .reason = reason};
  }
  return bounds.least();
}

}  // namespace inferometer
