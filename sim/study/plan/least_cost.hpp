#pragma once

// The least that steps of a pool cost, as its pricers have them: straight lines below every price. Who uses
// it: the bounds of plans, which add up steps that nobody has simulated. An engine's steps are priced by
// tables that jump, and may jump downwards; a sum over steps that one does not know needs lines below all of
// them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/step_shape.hpp"
#include "sim/scenario/pool_deployment.hpp"

namespace inferometer {

/// A price that is at least so much a step and so much more for each unit (token, sampled row) in it.
struct CostLine {
  double seconds_per_step = 0;  ///< >= 0
  double seconds_per_unit = 0;  ///< >= 0

  [[nodiscard]] double at(double steps, double units) const {
    return seconds_per_step * steps + seconds_per_unit * units;
  }
};

/// The price of a step at its number of units: at one, and at the later ones that tables have.
struct PricePoint {
  double units = 0;  ///< > 0
  double seconds = 0;
};

/// The lower convex envelope of prices, as the lines it is made of.
class LeastPrice {
 public:
  /// Nothing costs anything.
  LeastPrice() : lines_(1) {}
  /// The envelope of points, ascending in units. Of it, the lines through or above the origin and not
  /// falling: then neither fewer steps nor fewer units make a sum larger. O(points). Precondition: a point.
  explicit LeastPrice(std::span<const PricePoint> points);

  /// From the level one, at the cheapest step, to the one through the origin, at the lowest price of a unit.
  [[nodiscard]] const std::vector<CostLine>& lines() const { return lines_; }
  /// What so many steps with so many units together cost at least, however the units are spread.
  [[nodiscard]] double of(double steps, double units) const;
  /// The line that has it so, among those of at least so much a unit: a part of each unit's price can then be
  /// set against something else. At most the steepest line's is asked for.
  [[nodiscard]] CostLine best_line(double steps, double units, double least_per_unit) const;

 private:
  std::vector<CostLine> lines_;  // by rising price of a unit, falling price of a step
};

/// Seconds of all stages of the pipeline, one after the other. Of a step,
///   price >= tokens(its tokens) + rows(its sampled rows) + seconds_per_pair * pairs of (new token, key it
///            attends) of its chunks + seconds_per_context_token * tokens its decodes attend + host,
/// where all layers attend no more than those with a sliding window do, if there are any.
struct LeastCost {
  LeastPrice tokens;  ///< matrix products, elementwise operators, collectives, sends
  LeastPrice rows;    ///< lm_head and sampling; of steps with a row
  double seconds_per_pair = 0;
  double seconds_per_context_token = 0;
  double host_seconds_per_step = 0;      ///< where the GPU waits for the host
  double host_seconds_per_sequence = 0;  ///< likewise
  std::optional<std::int64_t> window;    ///< of attention, if only in some layers
};

/// Looks at every price that the pool's tables have: O(max_tokens + max_rows) prices of the operators, as
/// long as building its pricers takes. Throws what building them throws.
LeastCost least_cost(const PoolDeployment& pool);

/// What a step of that shape costs at least.
double least_seconds(const LeastCost& cost, const StepShape& shape);

}  // namespace inferometer
