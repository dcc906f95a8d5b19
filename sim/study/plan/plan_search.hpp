#pragma once

// Looks for the cheapest deployment that meets the SLO. A pure function of outcomes: asked again and again
// as they become known, it names the runs it needs next, and in the end has the answer.
//
// What it takes for granted: that more units of a shape never make it worse, and a higher rate never better.
// Then the smallest size that meets the SLO is found by halving, and a size that misses speaks for all below
// it. What it proves instead of running (plan_bounds.hpp) changes the cost of no answer. Shapes that cannot
// be cheaper than one that meets the SLO are not run: of several at the same cost, the answer is the cheapest
// in dollars, then that with the lowest latency, among those that were.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/study/plan/plan_bounds.hpp"
#include "sim/study/plan/plan_result.hpp"
#include "sim/study/plan/plan_space.hpp"
#include "sim/study/study_run.hpp"

namespace inferometer {

/// What is known of a shape before anything runs.
struct ShapeFacts {
  Size unit;                         ///< of one unit; nothing when it does not fit
  std::string setup;                 ///< "1 x (2 x h100-sxm)"
  std::vector<std::int64_t> units;   ///< sizes within the limits, ascending
  PlanBound bound;                   ///< nothing proven where pruning is off
  std::optional<std::string> unfit;  ///< why not one unit can run
};

/// Builds a deployment of each shape, and its bound. O(shapes) deployments of some 10 ms, on `threads`
/// threads.
std::vector<ShapeFacts> shape_facts(const PlanSpec& spec, const PlanSpace& space, int threads);

/// A deployment under a load: shape, units, times the study's traffic.
struct Setting {
  std::size_t shape = 0;
  std::int64_t units = 1;
  double rate_factor = 1;

  friend auto operator<=>(const Setting&, const Setting&) = default;
};

class PlanSearch {
 public:
  /// References outlive it.
  PlanSearch(const PlanSpec& spec, const PlanSpace& space, const std::vector<ShapeFacts>& facts);

  /// For run_study(), with what is known of one study as it grows. Empty when the answer is found. O(shapes)
  /// beside what is new.
  [[nodiscard]] std::vector<Evaluation> wanted(const KnownOutcomes& known) const;

  /// Precondition: wanted(known) is empty.
  [[nodiscard]] PlanResult result(const KnownOutcomes& known) const;

  [[nodiscard]] const PlanSpec& spec() const { return spec_; }
  [[nodiscard]] const PlanSpace& space() const { return space_; }
  [[nodiscard]] const ShapeFacts& facts(std::size_t shape) const { return facts_[shape]; }

 private:
  friend class Exploration;
  const PlanSpec& spec_;
  const PlanSpace& space_;
  const std::vector<ShapeFacts>& facts_;
  std::vector<std::size_t> order_;  // shapes that may meet, those with the least possible cost first
  mutable std::map<Setting, Assessment> assessments_;  // what outcomes came to: a cache
};

}  // namespace inferometer
