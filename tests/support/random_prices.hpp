#pragma once

// Step prices drawn at random, with bends where the sequences of a test pass.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "costmodel/step_pricer.hpp"
#include "costmodel/work_totals.hpp"
#include "tests/support/dice.hpp"

namespace inferometer::testing {

struct RandomPrices {
  std::shared_ptr<const StepPricer> pricer;
  std::optional<std::int64_t> window;  ///< of the model's attention
  std::optional<WorkTotals> work;      ///< empty account of the model; none for round prices
  std::string text;                    ///< for failure messages
  std::int64_t attention_ranks = 1;
};

/// Of a shipped model on a shipped GPU, or of round microseconds (so that arrivals fall on the ends of
/// steps). Windows, crossings of roofs and of host and GPU are put at contexts below `longest`.
RandomPrices random_prices(Dice& dice, std::int64_t longest, const PricerLimits& limits);

}  // namespace inferometer::testing
