#pragma once

// Prices of operators, added up in whole picoseconds. Who uses it: the pricers of all levels, for their
// tables.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// Operators that run one after the other, each with all its runs.
class OperatorCosts {
 public:
  /// Throws ConfigError when the step would take longer than any may.
  void add(std::string_view name, const RoofTimes& times, std::int64_t repeats, bool is_extrapolated) {
    seconds_ += to_seconds(times.total()) * static_cast<double>(repeats);
    require_simulable(seconds_);
    StepCost one{.latency = times.start_up, .communication = times.communication};
    (times.compute_bound() ? one.compute : one.bandwidth) = std::max(times.compute, times.bandwidth);
    if (is_extrapolated) {
      one.extrapolated = one.total();
    }
    costs_.emplace_back(name, one * repeats);
  }
  [[nodiscard]] StepCost sum() const {
    StepCost sum;
    for (const auto& [name, cost] : costs_) {
      sum = sum + cost;
    }
    return sum;
  }
  void append_to(std::vector<OperatorTime>& times) const {
    for (const auto& [name, cost] : costs_) {
      times.push_back({name, cost.total()});
    }
  }

 private:
  std::vector<std::pair<std::string_view, StepCost>> costs_;
  double seconds_ = 0;
};

}  // namespace inferometer
