#pragma once

// What a comparison found: means over seeds, differences from the baseline in pairs of runs with the same
// requests, and what may be said of them. A pure function of the study and its outcomes. Who uses it: the
// reports of sim/report/compare.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/compare/compare_study.hpp"
#include "sim/study/statistics.hpp"

namespace inferometer {

/// Of a variant against the baseline. Higher and lower: of metrics that are neither better nor worse so.
enum class DifferenceVerdict { better, worse, higher, lower, no_difference };
/// "better", ..., "no difference shown".
std::string_view to_string(DifferenceVerdict verdict);

/// By how much, as a share of the baseline: the ratio of geometric means over pairs, less 1. Latencies and
/// rates scatter by factors rather than by amounts, and a ratio's interval never falls below -1.
struct RelativeDifference {
  double share = 0;
  std::optional<double> low,
      high;  ///< of kConfidence, by Student's t on logarithms; absent for a single pair
};

struct Difference {
  Estimate value;       ///< variant minus baseline, over pairs of runs with the same seed
  double baseline = 0;  ///< mean of the baseline over those pairs
  std::optional<RelativeDifference> relative;  ///< absent where a value is not above 0
  /// Two-sided, of `relative`, or of `value` where there is none. Absent where chance has no part, and for a
  /// single pair.
  std::optional<double> p_value;
  /// By Holm's correction over the metrics of the variant under the load; the p-value itself without.
  std::optional<double> adjusted_p_value;
  DifferenceVerdict verdict = DifferenceVerdict::no_difference;
  bool is_unsteady = false;  ///< a latency that grows with the length of the run, as a queue of the two does

  /// Above 0: the variant has more.
  [[nodiscard]] double direction() const { return relative ? relative->share : value.mean; }
  /// None in any pair: chance had no part in that.
  [[nodiscard]] bool is_same() const { return value.mean == 0 && !p_value; }
};

struct ComparedMetric {
  std::optional<Estimate> value;         ///< over seeds; absent when no run had one
  std::optional<Difference> difference;  ///< absent for the baseline, and when no pair had values
};

/// A limit of the variant's scenario.
struct ComparedSlo {
  std::string name;  ///< "ttft_p99"
  double limit = 0;  ///< milliseconds, or a share for goodput
  std::int64_t runs_met = 0;
};

/// One variant under one load.
struct VariantResult {
  std::string error;             ///< why no run of it came to an end; all else is empty then
  std::int64_t runs = 0;         ///< that came to an end
  std::int64_t broken_runs = 0;  ///< that did not
  std::string broken_by;         ///< the first of their errors
  std::int64_t unstable_runs = 0;
  std::string queue_sentence;     ///< of the first unstable run
  double failed_requests = 0;     ///< of all runs
  double truncated_requests = 0;  ///< likewise
  bool has_same_requests = true;  ///< completed as many tokens as the baseline in each pair
  double extrapolated_share = 0;  ///< mean over runs, as all that follows
  TimeSplit time_split;
  std::vector<LatencyCurve> curves;
  std::vector<ComparedSlo> slo;
  std::vector<ComparedMetric> metrics;  ///< in the order of CompareStudy::metrics
  std::vector<HeadlineMetric> means;    ///< of all study_metric_names(), in their order

  [[nodiscard]] bool is_unstable() const { return unstable_runs > 0; }
  /// Of `means`.
  [[nodiscard]] std::optional<double> mean(std::string_view metric) const;
};

/// Who is best under a load, by the leading metric of the study.
struct Leader {
  std::size_t variant = 0;           ///< the best mean, among variants with a settled queue if there are any
  std::vector<std::size_t> as_good;  ///< others that no difference is shown to, in the study's order
  bool is_unsteady = false;          ///< every variant's queue grows, and the metric with it
};

struct LoadResult {
  std::string name;                     ///< of CompareLoad
  bool is_exact = false;                ///< chance has no part: one run of each variant
  std::vector<VariantResult> variants;  ///< in the order of CompareStudy::variants
  std::optional<Leader> leader;         ///< absent when fewer than two variants have the metric
};

struct CompareResult {
  std::vector<LoadResult> loads;
  std::int64_t tests = 0;        ///< differences whose verdict chance may have made
  std::int64_t comparisons = 0;  ///< of a variant with the baseline under a load, that have such
};

/// Precondition: `known` has all that wanted_runs() wants. O(runs * metrics).
CompareResult compare(const CompareStudy& study, const KnownOutcomes& known);

}  // namespace inferometer
