#pragma once

// What the steps of many replicas cost together. A day of 256 replicas is more picoseconds than 64 bits hold,
// so sums are kept in 64 bits as long as they fit, and then moved to 128. Who uses it: the recorder, once a
// step.

#include <limits>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// Parts of a StepCost, summed, in picoseconds.
struct CostSum {
  Int128 compute = 0, bandwidth = 0, latency = 0, communication = 0, host = 0, bubble = 0, extrapolated = 0;

  [[nodiscard]] Int128 total() const { return compute + bandwidth + latency + communication + host + bubble; }
  CostSum& operator+=(const CostSum& other);
  friend bool operator==(const CostSum&, const CostSum&) = default;
};

/// The cost of the mean one of so many, rounded down part by part. Precondition: count >= 1, and what results
/// fits a StepCost.
StepCost mean_cost(const CostSum& sum, std::int64_t count);

class CostTotals {
 public:
  /// `time`: cost.total(), which the caller knows already. O(1).
  void add(const StepCost& cost, Duration time) {
    constexpr Duration kLongest(std::numeric_limits<Duration::rep>::max());
    if (time > kLongest - recent_time_) {
      settle();
    }
    recent_ = recent_ + cost;
    recent_time_ += time;
  }

  [[nodiscard]] CostSum sum() const;

 private:
  void settle();

  StepCost recent_{};
  Duration recent_time_{};
  CostSum settled_;
};

}  // namespace inferometer
