#include "sim/study/compare/compare_result.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "sim/metrics/time_split_parts.hpp"
#include "sim/study/compare/metric_direction.hpp"

namespace inferometer {
namespace {

/// Below this share of the values, a difference is of how they were rounded, not of what they stand for.
constexpr double kRoundingShare = 1e-9;

/// Runs of one variant under one load, by seed.
using Runs = std::vector<const Outcome*>;

Runs runs_of(const CompareStudy& study, const KnownOutcomes& known, std::size_t load, std::size_t variant) {
  Runs runs;
  for (const std::int64_t seed : study.seeds_of(load)) {
    runs.push_back(known.find(study.evaluation(load, variant, seed)));
    INFEROMETER_CHECK(runs.back() != nullptr, "every run of the comparison is known");
  }
  return runs;
}

std::optional<Estimate> estimate_of(const Runs& runs, const std::string& metric) {
  std::vector<double> values;
  for (const Outcome* run : runs) {
    if (const std::optional<double> value = run->find(metric)) {
      values.push_back(*value);
    }
  }
  return values.empty() ? std::nullopt : std::optional(estimate_mean(values));
}

/// Values of one metric in pairs of runs with the same seed, where both have one.
struct Pairs {
  std::vector<double> first, differences;  ///< of the first; second minus first
  std::vector<double> log_ratios;          ///< of second over first; empty where one is not above 0

  /// What chance is looked for in.
  [[nodiscard]] const std::vector<double>& tested() const {
    return log_ratios.empty() ? differences : log_ratios;
  }
};

Pairs pairs_of(const Runs& first, const Runs& second, const std::string& metric) {
  Pairs pairs;
  bool are_positive = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<double> a = first[i]->find(metric);
    const std::optional<double> b = second[i]->find(metric);
    if (!a || !b) {
      continue;
    }
    const double difference = *b - *a;
    const bool is_rounding = std::abs(difference) <= kRoundingShare * std::max(std::abs(*a), std::abs(*b));
    pairs.first.push_back(*a);
    pairs.differences.push_back(is_rounding ? 0 : difference);
    are_positive = are_positive && *a > 0 && *b > 0;
    pairs.log_ratios.push_back(is_rounding || !are_positive ? 0 : portable_log(*b / *a));
  }
  if (!are_positive) {
    pairs.log_ratios.clear();
  }
  return pairs;
}

bool are_all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

DifferenceVerdict verdict_of(const std::string& metric, double difference) {
  switch (direction_of(metric)) {
    case Direction::lower_is_better:
      return difference < 0 ? DifferenceVerdict::better : DifferenceVerdict::worse;
    case Direction::higher_is_better:
      return difference > 0 ? DifferenceVerdict::better : DifferenceVerdict::worse;
    case Direction::neither:
      break;
  }
  return difference > 0 ? DifferenceVerdict::higher : DifferenceVerdict::lower;
}

/// Without a verdict, which needs the p-values of the other metrics.
std::optional<Difference> difference_of(const Pairs& pairs, bool is_exact) {
  if (pairs.differences.empty()) {
    return std::nullopt;
  }
  Difference difference;
  difference.value = estimate_mean(pairs.differences);
  difference.baseline = estimate_mean(pairs.first).mean;
  // What is equal in every pair was not decided by chance.
  if (!is_exact && pairs.differences.size() > 1 && !are_all_zero(pairs.differences)) {
    difference.p_value = p_value_of_mean(pairs.tested());
  }
  if (!pairs.log_ratios.empty()) {
    const Estimate logarithm = estimate_mean(pairs.log_ratios);
    RelativeDifference& relative = difference.relative.emplace();
    relative.share = portable_exp(logarithm.mean) - 1;
    if (logarithm.half_width) {
      relative.low = portable_exp(logarithm.low()) - 1;
      relative.high = portable_exp(logarithm.high()) - 1;
    }
  }
  return difference;
}

/// The metrics of one variant against the baseline, under one load.
void decide(const CompareStudy& study, bool is_exact, std::vector<ComparedMetric>& metrics) {
  std::vector<double> p_values;
  for (const ComparedMetric& metric : metrics) {
    if (metric.difference && metric.difference->p_value) {
      p_values.push_back(*metric.difference->p_value);
    }
  }
  const std::vector<double> adjusted =
      study.correction == Correction::holm ? holm_adjusted(p_values) : p_values;
  std::size_t next = 0;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!metrics[i].difference) {
      continue;
    }
    Difference& difference = *metrics[i].difference;
    bool is_shown = is_exact && difference.value.mean != 0;
    if (difference.p_value) {
      difference.adjusted_p_value = adjusted[next++];
      is_shown = *difference.adjusted_p_value < 1 - kConfidence;
    }
    if (is_shown) {
      difference.verdict = verdict_of(study.metrics[i], difference.direction());
    }
  }
}

/// Tokens of completed requests; rounding apart, a whole number.
std::optional<double> tokens_of(const Outcome& run) {
  const std::optional<double> throughput = run.find("total_token_throughput");
  const std::optional<double> requests = run.find("request_throughput");
  const std::optional<double> completed = run.find("completed_requests");
  if (!throughput || !requests || !completed || *requests == 0) {
    return std::nullopt;
  }
  return std::round(*throughput / *requests * *completed);
}

bool have_same_requests(const Runs& baseline, const Runs& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (baseline[i]->error.empty() && runs[i]->error.empty() &&
        tokens_of(*baseline[i]) != tokens_of(*runs[i])) {
      return false;
    }
  }
  return true;
}

void add_slo(const Outcome& run, std::vector<ComparedSlo>& slo) {
  for (const SloVerdict& verdict : run.slo) {
    auto found = std::find_if(slo.begin(), slo.end(),
                              [&](const ComparedSlo& each) { return each.name == verdict.name; });
    if (found == slo.end()) {
      found = slo.insert(slo.end(), {verdict.name, verdict.limit, 0});
    }
    found->runs_met += verdict.met ? 1 : 0;
  }
}

/// Curves of runs add up share by share; divided by their number later.
void add_curves(const Outcome& run, std::vector<LatencyCurve>& sums, std::vector<double>& counts) {
  for (const LatencyCurve& curve : run.curves) {
    std::size_t place = 0;
    while (place < sums.size() && sums[place].metric != curve.metric) {
      ++place;
    }
    if (place == sums.size()) {
      sums.push_back({curve.metric, std::vector<double>(curve.values_ms.size(), 0.0)});
      counts.push_back(0);
    }
    counts[place] += 1;
    for (std::size_t i = 0; i < curve.values_ms.size(); ++i) {
      sums[place].values_ms[i] += curve.values_ms[i];
    }
  }
}

/// What is known of runs by themselves.
VariantResult summary_of(const Runs& runs) {
  VariantResult result;
  std::vector<double> curve_counts;
  Runs ended;
  for (const Outcome* run : runs) {
    if (!run->error.empty()) {
      result.broken_runs += 1;
      result.broken_by = result.broken_by.empty() ? run->error : result.broken_by;
      continue;
    }
    ended.push_back(run);
    if (run->queue == QueueStability::unstable) {
      result.unstable_runs += 1;
      result.queue_sentence = result.queue_sentence.empty() ? run->queue_sentence : result.queue_sentence;
    }
    result.failed_requests += run->find("failed_requests").value_or(0);
    result.truncated_requests += run->find("truncated_requests").value_or(0);
    result.extrapolated_share += run->extrapolated_share;
    for (const auto part : kTimeSplitParts) {
      result.time_split.*part += run->time_split.*part;
    }
    add_curves(*run, result.curves, curve_counts);
    add_slo(*run, result.slo);
  }
  result.runs = static_cast<std::int64_t>(ended.size());
  if (ended.empty()) {
    result.error = result.broken_by;
    return result;
  }
  const auto count = static_cast<double>(result.runs);
  result.extrapolated_share /= count;
  for (const auto part : kTimeSplitParts) {
    result.time_split.*part /= count;
  }
  for (std::size_t i = 0; i < result.curves.size(); ++i) {
    for (double& value : result.curves[i].values_ms) {
      value /= curve_counts[i];
    }
  }
  for (const std::string& name : study_metric_names()) {
    const std::optional<Estimate> value = estimate_of(ended, name);
    result.means.push_back({name, value ? std::optional(value->mean) : std::nullopt});
  }
  return result;
}

VariantResult result_of(const CompareStudy& study, bool is_exact, const Runs& runs, const Runs* baseline,
                        const VariantResult* baseline_result) {
  VariantResult result = summary_of(runs);
  for (const std::string& metric : study.metrics) {
    ComparedMetric& compared = result.metrics.emplace_back();
    compared.value = estimate_of(runs, metric);
    if (baseline == nullptr) {
      continue;
    }
    compared.difference = difference_of(pairs_of(*baseline, runs, metric), is_exact);
    if (compared.difference) {
      compared.difference->is_unsteady =
          grows_with_queue(metric) && (result.is_unstable() || baseline_result->is_unstable());
    }
  }
  if (baseline != nullptr) {
    decide(study, is_exact, result.metrics);
    result.has_same_requests = have_same_requests(*baseline, runs);
  }
  return result;
}

/// The p-value of one variant's metric against another's; nothing to decide by gives 1, and where chance has
/// no part 0 for any difference.
double p_value_between(const Runs& first, const Runs& second, const std::string& metric, bool is_exact) {
  const Pairs pairs = pairs_of(first, second, metric);
  if (is_exact || are_all_zero(pairs.differences)) {
    return are_all_zero(pairs.differences) ? 1 : 0;
  }
  return pairs.differences.size() > 1 ? p_value_of_mean(pairs.tested()) : 1;
}

std::optional<Leader> leader_of(const std::string& metric, const LoadResult& load,
                                const std::vector<Runs>& runs) {
  const Direction direction = direction_of(metric);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    if (load.variants[i].mean(metric)) {
      places.push_back(i);
    }
  }
  if (places.size() < 2 || direction == Direction::neither) {
    return std::nullopt;
  }
  Leader leader;
  std::vector<std::size_t> settled;
  std::copy_if(places.begin(), places.end(), std::back_inserter(settled),
               [&](std::size_t place) { return !load.variants[place].is_unstable(); });
  leader.is_unsteady = settled.empty() && grows_with_queue(metric);
  const std::vector<std::size_t>& candidates = settled.empty() ? places : settled;
  leader.variant = *std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
    const double of_a = *load.variants[a].mean(metric);
    const double of_b = *load.variants[b].mean(metric);
    return direction == Direction::lower_is_better ? of_a < of_b : of_a > of_b;
  });
  std::vector<double> p_values;
  for (const std::size_t other : candidates) {
    if (other != leader.variant) {
      p_values.push_back(p_value_between(runs[leader.variant], runs[other], metric, load.is_exact));
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  std::size_t next = 0;
  for (const std::size_t other : candidates) {
    if (other != leader.variant && adjusted[next++] >= 1 - kConfidence) {
      leader.as_good.push_back(other);
    }
  }
  return leader;
}

void count_tests(const LoadResult& load, CompareResult& result) {
  for (const VariantResult& variant : load.variants) {
    const auto tests = std::count_if(
        variant.metrics.begin(), variant.metrics.end(),
        [](const ComparedMetric& metric) { return metric.difference && metric.difference->p_value; });
    result.tests += tests;
    result.comparisons += tests > 0 ? 1 : 0;
  }
}

}  // namespace

std::string_view to_string(DifferenceVerdict verdict) {
  switch (verdict) {
    case DifferenceVerdict::better:
      return "better";
    case DifferenceVerdict::worse:
      return "worse";
    case DifferenceVerdict::higher:
      return "higher";
    case DifferenceVerdict::lower:
      return "lower";
    case DifferenceVerdict::no_difference:
      break;
  }
  return "no difference shown";
}

std::optional<double> VariantResult::mean(std::string_view metric) const {
  const auto found = std::find_if(means.begin(), means.end(),
                                  [&](const HeadlineMetric& each) { return each.name == metric; });
  return found == means.end() ? std::nullopt : found->value;
}

CompareResult compare(const CompareStudy& study, const KnownOutcomes& known) {
  CompareResult result;
  for (std::size_t place = 0; place < study.loads.size(); ++place) {
    LoadResult load;
    load.name = study.loads[place].name;
    load.is_exact = !study.loads[place].is_seeded;
    std::vector<Runs> runs;
    for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
      runs.push_back(runs_of(study, known, place, variant));
    }
    for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
      const bool is_baseline = variant == 0;
      load.variants.push_back(result_of(study, load.is_exact, runs[variant],
                                        is_baseline ? nullptr : &runs.front(),
                                        is_baseline ? nullptr : &load.variants.front()));
    }
    load.leader = leader_of(study.leading_metric, load, runs);
    count_tests(load, result);
    result.loads.push_back(std::move(load));
  }
  return result;
}

}  // namespace inferometer
