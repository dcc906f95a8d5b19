#pragma once

// One pass of a plan's search over what is known: as far as it gets, with a list of what it misses.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/study/plan/plan_search.hpp"
#include "sim/study/plan/size_search.hpp"

namespace inferometer {

class Exploration {
 public:
  /// References outlive it.
  Exploration(const PlanSearch& search, const KnownOutcomes& known) : search_(search), known_(known) {}

  /// The result, whole only when nothing is wanted afterwards.
  PlanResult run();
  [[nodiscard]] std::vector<Evaluation>& wanted() { return wanted_; }

  /// nullptr when it is not known yet; its runs are wanted then.
  const Assessment* assess(const Setting& setting);

 private:
  [[nodiscard]] std::optional<Probe> probe(const Setting& setting);
  [[nodiscard]] const ShapeFacts& facts(std::size_t shape) const { return search_.facts(shape); }

  void start(PlanResult& result) const;
  void size_shapes(PlanResult& result);
  void size_wave(const std::vector<std::size_t>& wave, double incumbent, PlanResult& result);
  void size_shape(std::size_t shape, const std::vector<std::int64_t>& units, bool is_capped,
                  ShapeResult& result);
  void choose_best(PlanResult& result) const;
  void find_front(PlanResult& result) const;
  void sustain(PlanResult& result);
  [[nodiscard]] std::int64_t sustained_units(std::size_t shape, const ShapeResult& result) const;
  void sustain_shape(std::size_t shape, ShapeResult& result);
  void collect(PlanResult& result) const;

  const PlanSearch& search_;
  const KnownOutcomes& known_;
  std::vector<Evaluation> wanted_;
  std::set<Evaluation> wanted_set_;
  std::map<Setting, const Assessment*> used_;
};

}  // namespace inferometer
