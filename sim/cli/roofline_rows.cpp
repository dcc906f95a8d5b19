#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/expert_routing.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "sim/cli/roofline_report.hpp"

namespace inferometer {
namespace {

/// Operators' times at each level.
class Levels {
 public:
  explicit Levels(const RooflineSetting& setting)
      : setting_(setting), datasheet_(at(CostLevel::datasheet)), fitted_(at(CostLevel::roofline)) {
    if (setting.kernels) {
      kernels_.emplace(*setting.kernels, setting.gpu, fitted_, std::nullopt);
    }
  }
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;

  [[nodiscard]] const Roofline& datasheet() const { return datasheet_; }
  [[nodiscard]] const Roofline& fitted() const { return fitted_; }
  /// nullptr: no profile.
  [[nodiscard]] const CalibratedKernels* kernels() const { return kernels_ ? &*kernels_ : nullptr; }

  [[nodiscard]] RoofTimes chosen_time(const Operator& part) const {
    if (setting_.level == CostLevel::calibrated) {
      return kernels_->time(part);
    }
    return chosen_roofline().time(part);
  }

  /// FLOP/B where the roofs of the chosen level meet; 0 where there are none.
  [[nodiscard]] double ridge(const Operator& part) const {
    if (part.family == OperatorFamily::collective || part.family == OperatorFamily::transfer) {
      return 0;
    }
    const double speed =
        part.call ? peak(setting_.gpu, kernel_work(*part.call).unit).count() / setting_.gpu.bf16_peak.count()
                  : 1;
    const ChosenFit fit =
        setting_.level == CostLevel::calibrated && part.call ? kernels_->choose(*part.call) : ChosenFit{};
    if (fit.fit != nullptr) {
      const RooflineConstants& constants = fit.fit->roofline;
      return setting_.gpu.ridge_point() * speed * constants.compute_efficiency /
             constants.bandwidth_efficiency;
    }
    return chosen_roofline().roofs(part.family).ridge_point() * speed;
  }

 private:
  [[nodiscard]] Roofline at(CostLevel level) const {
    Parallelism parallelism = in_one_node(setting_.tensor_parallel);
    parallelism.attention_data = setting_.attention_data_parallel;
    parallelism.expert = setting_.expert_parallel;
    return {setting_.gpu, setting_.profile, level, parallelism};
  }
  [[nodiscard]] const Roofline& chosen_roofline() const {
    return setting_.level == CostLevel::datasheet ? datasheet_ : fitted_;
  }

  const RooflineSetting& setting_;
  Roofline datasheet_, fitted_;
  std::optional<CalibratedKernels> kernels_;
};

Duration time_at(const RooflineRow& row, CostLevel level) {
  switch (level) {
    case CostLevel::datasheet:
      return row.datasheet;
    case CostLevel::roofline:
      return row.fitted;
    case CostLevel::calibrated:
      break;
  }
  return *row.calibrated;
}

/// What the row says about measurements, from one run of its operator.
void add_calibrated(const CalibratedKernels& kernels, const Roofline& fitted, const Operator& part,
                    RooflineRow& row) {
  row.calibrated = kernels.time(part).total() * part.repeats;
  row.beyond = kernels.extrapolations(part);
  if (fitted.is_extrapolated(part)) {
    row.notes.push_back({row.name, "not measured but priced by latency and bandwidth of the links"});
    return;
  }
  if (!part.call) {
    return;
  }
  const ChosenFit fit = kernels.choose(*part.call);
  if (fit.fit == nullptr) {
    row.notes.push_back({row.name, "not in the profile, priced by the roofline"});
  } else if (fit.is_scaled) {
    row.notes.push_back({row.name, fmt::format("not measured in {}, scaled from {} by the roofline",
                                               part.call->variant, fit.measured_variant)});
  }
}

/// Time of the step at one level by what it goes to, in the order of Bound.
using TimeSplit = std::array<Duration, 4>;

void add(TimeSplit& split, const RoofTimes& times, std::int64_t runs) {
  const auto at = [&split](Bound bound) -> Duration& { return split.at(static_cast<std::size_t>(bound)); };
  at(times.compute_bound() ? Bound::compute : Bound::bandwidth) +=
      std::max(times.compute, times.bandwidth) * runs;
  at(Bound::start_up) += times.start_up * runs;
  at(Bound::communication) += times.communication * runs;
}

void add(RooflineRow& step, const RooflineRow& row) {
  step.flops += row.flops;
  step.hbm_bytes += row.hbm_bytes;
  step.link_bytes += row.link_bytes;
  step.datasheet += row.datasheet;
  step.fitted += row.fitted;
  if (row.calibrated) {
    step.calibrated = step.calibrated.value_or(Duration()) + *row.calibrated;
  }
  step.beyond.insert(step.beyond.end(), row.beyond.begin(), row.beyond.end());
  step.notes.insert(step.notes.end(), row.notes.begin(), row.notes.end());
}

/// Experts with how many different ones the step's tokens reach: "experts (7.2 of 8)".
std::string name_of(const Operator& part, const ModelSpec& model, std::int64_t tokens) {
  if (part.family != OperatorFamily::experts) {
    return std::string(part.name);
  }
  return fmt::format("{} ({:.1f} of {})", part.name,
                     distinct_experts(*model.moe, static_cast<double>(tokens)), model.moe->experts);
}

}  // namespace

std::vector<RooflineRow> roofline_rows(const RooflineSetting& setting, const StepShape& shape) {
  const Levels levels(setting);
  std::vector<RooflineRow> rows;
  RooflineRow step{.name = "step"};
  TimeSplit split{};
  for (const Operator& part : step_operators(setting.model, setting.split(), shape)) {
    const RoofTimes times = levels.chosen_time(part);
    const auto runs = static_cast<double>(part.repeats);
    require_simulable(to_seconds(step.fitted) + to_seconds(levels.fitted().time(part).total()) * runs);
    require_simulable(to_seconds(step.calibrated.value_or(Duration())) + to_seconds(times.total()) * runs);
    RooflineRow row{.name = name_of(part, setting.model, shape.tokens()),
                    .runs = part.repeats,
                    .flops = part.flops * runs,
                    .hbm_bytes = part.hbm_bytes * part.repeats,
                    .link_bytes = part.link_bytes * part.repeats,
                    .ridge = levels.ridge(part),
                    .bound = bound_of(times),
                    .datasheet = levels.datasheet().time(part).total() * part.repeats,
                    .fitted = levels.fitted().time(part).total() * part.repeats};
    if (levels.kernels() != nullptr) {
      add_calibrated(*levels.kernels(), levels.fitted(), part, row);
    }
    if (part.family == OperatorFamily::gemm && step.ridge == 0) {
      step.ridge = row.ridge;
    }
    add(split, times, part.repeats);
    add(step, row);
    rows.push_back(std::move(row));
  }
  step.bound = static_cast<Bound>(std::max_element(split.begin(), split.end()) - split.begin());
  rows.push_back(step);
  return rows;
}

SweepRow sweep_row(const RooflineSetting& setting, std::int64_t value, const StepShape& shape) {
  const std::vector<RooflineRow> rows = roofline_rows(setting, shape);
  const RooflineRow& step = rows.back();
  const auto largest =
      std::max_element(rows.begin(), rows.end() - 1, [&](const RooflineRow& a, const RooflineRow& b) {
        return time_at(a, setting.level) < time_at(b, setting.level);
      });
  const double share =
      to_seconds(time_at(*largest, setting.level)) / to_seconds(time_at(step, setting.level));
  return {value, shape.tokens(), step, largest->name, share};
}

}  // namespace inferometer
