#include "sim/study/plan/assessment.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/metrics/time_split_parts.hpp"
#include "sim/study/plan/target_words.hpp"
#include "sim/study/statistics.hpp"

namespace inferometer {
namespace {

template <class Value>
std::vector<double> over_seeds(const std::vector<const Outcome*>& outcomes, const Value& value) {
  std::vector<double> values;
  for (const Outcome* outcome : outcomes) {
    if (const std::optional<double> one = value(*outcome)) {
      values.push_back(*one);
    }
  }
  return values;
}

bool is_share(const std::string& target) {
  return target == "goodput";
}

TargetResult target_of(const std::vector<const Outcome*>& outcomes, std::size_t place) {
  const SloVerdict& first = outcomes.front()->slo[place];
  TargetResult target;
  target.name = first.name;
  target.limit = first.limit;
  const std::vector<double> values =
      over_seeds(outcomes, [place](const Outcome& outcome) { return outcome.slo[place].value; });
  if (values.size() < outcomes.size()) {
    return target;
  }
  const Estimate estimate = estimate_mean(values);
  target.mean = estimate.mean;
  if (estimate.half_width) {
    target.low = estimate.low();
    target.high = estimate.high();
    target.is_close = *target.low < target.limit && target.limit < *target.high;
  }
  const double over = estimate.mean / target.limit - 1;
  target.over = is_share(target.name) ? -over : over;
  target.met = *target.over <= 0;
  return target;
}

TimeSplit mean_split(const std::vector<const Outcome*>& outcomes) {
  TimeSplit mean;
  const double weight = 1 / static_cast<double>(outcomes.size());
  for (const auto part : kTimeSplitParts) {
    for (const Outcome* outcome : outcomes) {
      mean.*part += outcome->time_split.*part * weight;
    }
  }
  return mean;
}

void add_means(const std::vector<const Outcome*>& outcomes, Assessment& assessment) {
  for (const HeadlineMetric& metric : outcomes.front()->metrics) {
    const std::vector<double> values =
        over_seeds(outcomes, [&](const Outcome& outcome) { return outcome.find(metric.name); });
    const bool is_whole = values.size() == outcomes.size();
    assessment.means.push_back(
        {metric.name, is_whole ? std::optional(estimate_mean(values).mean) : std::nullopt});
  }
}

std::string why_missed(const TargetResult& target) {
  const std::string name = target_in_words(target.name);
  if (!target.mean) {
    return name + " has no value: no request came so far";
  }
  return fmt::format("{} is {}, {} the limit of {}", name, target_amount(target.name, *target.mean),
                     miss_in_words(target.name, *target.over), target_amount(target.name, target.limit));
}

void judge(const std::vector<const Outcome*>& outcomes, double failed_max, Assessment& assessment) {
  const double failed = assessment.find("failed_requests").value_or(0);
  const double all = failed + assessment.find("completed_requests").value_or(0);
  const auto unstable = std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome* outcome) {
    return outcome->queue == QueueStability::unstable;
  });
  const TargetResult* const worst = assessment.worst();
  const auto missed = std::find_if(assessment.targets.begin(), assessment.targets.end(),
                                   [](const TargetResult& target) { return !target.mean; });
  if (failed > failed_max * all) {
    assessment.verdict = Verdict::failed;
    assessment.reason =
        fmt::format("{:.3g} of {:.6g} requests were rejected or lost, {:.3g} % of at most {:.3g} %", failed,
                    all, 100 * failed / all, 100 * failed_max);
  } else if (2 * unstable >= static_cast<std::ptrdiff_t>(outcomes.size()) && unstable > 0) {
    assessment.verdict = Verdict::saturated;
    const std::optional<double> load = assessment.find("load_share");
    assessment.reason =
        load ? fmt::format("saturated: the queue grows; offered {:.3g} % of the capacity", 100 * *load)
             : std::string("saturated: the queue grows");
  } else if (missed != assessment.targets.end()) {
    assessment.verdict = Verdict::misses_slo;
    assessment.reason = why_missed(*missed);
  } else if (worst != nullptr && !worst->met) {
    assessment.verdict = Verdict::misses_slo;
    assessment.reason = why_missed(*worst);
  } else {
    assessment.verdict = Verdict::meets;
  }
}

}  // namespace

std::optional<double> Assessment::find(std::string_view metric) const {
  const auto found = std::find_if(means.begin(), means.end(),
                                  [metric](const HeadlineMetric& each) { return each.name == metric; });
  return found == means.end() ? std::nullopt : found->value;
}

const TargetResult* Assessment::worst() const {
  const TargetResult* worst = nullptr;
  for (const TargetResult& target : targets) {
    if (target.over && (worst == nullptr || *target.over > *worst->over)) {
      worst = &target;
    }
  }
  return worst;
}

Assessment assess(const std::vector<const Outcome*>& outcomes, const Size& size, double rate_factor,
                  double failed_max) {
  Assessment assessment;
  assessment.size = size;
  assessment.rate_factor = rate_factor;
  const auto broken = std::find_if(outcomes.begin(), outcomes.end(),
                                   [](const Outcome* outcome) { return !outcome->error.empty(); });
  if (broken != outcomes.end()) {
    assessment.verdict = Verdict::cannot_run;
    assessment.reason = (*broken)->error;
    return assessment;
  }
  add_means(outcomes, assessment);
  assessment.time_split = mean_split(outcomes);
  assessment.curves = outcomes.front()->curves;
  for (const Outcome* outcome : outcomes) {
    assessment.offered_per_second += outcome->offered_per_second / static_cast<double>(outcomes.size());
    assessment.extrapolated_share = std::max(assessment.extrapolated_share, outcome->extrapolated_share);
  }
  for (std::size_t place = 0; place < outcomes.front()->slo.size(); ++place) {
    assessment.targets.push_back(target_of(outcomes, place));
  }
  judge(outcomes, failed_max, assessment);
  return assessment;
}

}  // namespace inferometer
