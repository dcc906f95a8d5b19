#pragma once

// What a plan found. Who uses it: its reports.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/study/outcome.hpp"

namespace inferometer {

/// What a deployment is bought by.
enum class Objective { dollars_per_hour, gpus, watts };
/// "dollars_per_hour"
std::string_view to_string(Objective objective);

/// So many units of a kind of deployment. A unit is one replica, or `prefill` and `decode` replicas that go
/// together.
struct Size {
  std::int64_t units = 0;
  std::int64_t gpus = 0;
  double dollars_per_hour = 0;
  double watts = 0;  ///< power limits of its GPUs, added up
  double cost = 0;   ///< in what is minimised
};

/// A limit of the SLO against what was simulated: the mean over seeds.
struct TargetResult {
  std::string name;                       ///< "ttft_p99", "goodput"
  double limit = 0;                       ///< ms, or a share for goodput
  std::optional<double> mean, low, high;  ///< with the 95 % interval of the mean, from two seeds on
  bool met = false;
  /// By which part of the limit it is missed (above 0) or to spare (below 0), for either kind of limit.
  std::optional<double> over;
  /// The interval has the limit in it: another set of seeds might decide otherwise.
  bool is_close = false;
};

enum class Verdict {
  meets,
  misses_slo,
  saturated,  ///< the queue grew
  failed,     ///< too many requests were rejected or lost
  cannot_run,
};
/// "misses_slo"
std::string_view to_string(Verdict verdict);

/// One deployment under one load, over all seeds.
struct Assessment {
  Size size;
  double rate_factor = 1;  ///< times the study's traffic, growth included
  double offered_per_second = 0;
  Verdict verdict = Verdict::cannot_run;
  /// A sentence without a full stop for anything but `meets`; of `saturated` it begins with that word.
  std::string reason;
  std::vector<TargetResult> targets;  ///< empty when it cannot run
  std::vector<HeadlineMetric> means;  ///< over seeds, of Outcome::metrics
  TimeSplit time_split;               ///< likewise
  double extrapolated_share = 0;
  std::vector<LatencyCurve> curves;  ///< of the first seed

  [[nodiscard]] std::optional<double> find(std::string_view metric) const;
  /// The target that is missed by most, or has least to spare; nullptr when there is none with a value.
  [[nodiscard]] const TargetResult* worst() const;
};

/// The highest load that a deployment sustains within the SLO.
struct SustainedRate {
  double low_per_second = 0;      ///< meets the SLO; 0: no rate that was tried does
  double high_per_second = 0;     ///< does not
  std::string limited_by;         ///< why the higher one does not: the reason of its assessment
  std::vector<Assessment> tried;  ///< by rate, ascending
};

enum class ShapeFate {
  meets,             ///< some size does
  none_meets,        ///< sizes were simulated up to the largest that may be, and missed
  dearer,            ///< the sizes below the cost of another that meets were simulated, and missed
  bound_dearer,      ///< proven: the sizes that could meet cost no less than another that does
  bound_impossible,  ///< proven: no size meets
  too_large,         ///< not one unit is within the limits
  does_not_fit,      ///< the model does not fit, or the GPU cannot do what is asked of it
};
/// "bound_dearer"
std::string_view to_string(ShapeFate fate);

/// A combination of the candidates' values, whatever its size.
struct ShapeResult {
  std::string name;                                         ///< "h100-sxm, tensor_parallel 2"
  std::vector<std::pair<std::string, std::string>> values;  ///< key and value, in the study's order
  std::string setup;  ///< one unit: "1 x (2 x h100-sxm)"; empty when it does not fit
  Size unit;          ///< of one unit
  ShapeFate fate = ShapeFate::does_not_fit;
  std::string reason;                      ///< a sentence for anything but `meets`
  std::int64_t least_units = 0;            ///< proven: fewer do not meet; 0: nothing is proven
  std::vector<Assessment> assessments;     ///< of the study's traffic, by size, ascending
  std::optional<std::size_t> smallest;     ///< place of the smallest size that meets among them
  std::optional<SustainedRate> sustained;  ///< of the smallest size that meets, else the largest tried, else
                                           ///< the smallest that may meet
};

/// What else the answer could have been, if one thing were different.
struct SensitivityRow {
  std::string what;  ///< "tensor_parallel", "traffic", "price of h100-sxm"
  std::string from, to;
  std::string effect;                    ///< a sentence
  std::optional<Assessment> assessment;  ///< where it was simulated
};

struct PlanResult {
  Objective objective = Objective::dollars_per_hour;
  std::string latency_axis;  ///< metric that fronts show, of Outcome::metrics: "p99_ttft_ms"
  double growth = 1;
  std::int64_t seeds = 1;
  double tolerance = 0;             ///< of sustained rates
  std::vector<ShapeResult> shapes;  ///< in the study's order
  std::optional<std::size_t> best;  ///< place of the answer among them; absent: no candidate meets the SLO
  /// Assessments that meet the SLO and that no other one beats in cost, latency and power at once: places in
  /// `shapes` and in its `assessments`, by cost.
  std::vector<std::pair<std::size_t, std::size_t>> front;
  bool is_front_whole = false;  ///< every shape was sized; else the front is of what was simulated
  std::vector<SensitivityRow> sensitivity;
  std::int64_t candidates = 0;   ///< sizes of all shapes
  std::int64_t evaluations = 0;  ///< that the answer took, each a run of one seed
};

}  // namespace inferometer
