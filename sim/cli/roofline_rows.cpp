#include <algorithm>
#include <array>

#include "sim/cli/roofline_report.hpp"

namespace inferometer {
namespace {

Roofline roofline_at(const RooflineSetting& setting, CostLevel level) {
  return {setting.gpu, setting.profile, level, setting.tensor_parallel};
}

Duration time_at(const RooflineRow& row, CostLevel level) {
  return level == CostLevel::datasheet ? row.datasheet : row.fitted;
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

}  // namespace

std::vector<RooflineRow> roofline_rows(const RooflineSetting& setting, const StepShape& shape) {
  const Roofline datasheet = roofline_at(setting, CostLevel::datasheet);
  const Roofline fitted = roofline_at(setting, CostLevel::roofline);
  const Roofline& chosen = setting.level == CostLevel::datasheet ? datasheet : fitted;
  std::vector<RooflineRow> rows;
  RooflineRow step{.name = "step", .ridge = chosen.roofs(OperatorFamily::gemm).ridge_point()};
  TimeSplit split{};
  for (const Operator& part : step_operators(setting.model, setting.tensor_parallel, shape)) {
    const RoofTimes times = chosen.time(part);
    require_simulable(to_seconds(step.fitted) +
                      to_seconds(fitted.time(part).total()) * static_cast<double>(part.repeats));
    const bool collective = part.family == OperatorFamily::collective;
    rows.push_back({.name = std::string(part.name),
                    .runs = part.repeats,
                    .flops = part.flops * static_cast<double>(part.repeats),
                    .hbm_bytes = part.hbm_bytes * part.repeats,
                    .link_bytes = part.link_bytes * part.repeats,
                    .ridge = collective ? 0 : chosen.roofs(part.family).ridge_point(),
                    .bound = bound_of(times),
                    .datasheet = datasheet.time(part).total() * part.repeats,
                    .fitted = fitted.time(part).total() * part.repeats});
    add(split, times, part.repeats);
    step.flops += rows.back().flops;
    step.hbm_bytes += rows.back().hbm_bytes;
    step.link_bytes += rows.back().link_bytes;
    step.datasheet += rows.back().datasheet;
    step.fitted += rows.back().fitted;
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
