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

class CostTotals {
 public:
  /// Precondition: there is room. O(1).
  void add(const StepCost& cost) { recent_ = recent_ + cost; }
  /// For another cost of so much in all. The steps of one replica find room as long as there is time. O(1).
  void make_room(Duration time) {
    constexpr Duration kLongest(std::numeric_limits<Duration::rep>::max());
    if (time > kLongest - recent_.total()) {
      settle();
    }
  }

  [[nodiscard]] CostSum sum() const;

 private:
  // Not inlined, so that make_room is.
  [[gnu::noinline]] void settle();

  StepCost recent_{};
  CostSum settled_;
};

}  // namespace inferometer
