#pragma once

// Step prices drawn at random, with bends where the sequences of a test pass.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/work_totals.hpp"

namespace inferometer::testing {

class Dice {
 public:
  Dice(std::uint64_t seed, const std::string& path) : stream_(seed, path) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(std::int64_t percent) { return between(1, 100) <= percent; }
  std::int64_t one_of(const std::vector<std::int64_t>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  std::string name_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

 private:
  RandomStream stream_;
};

struct RandomPrices {
  std::shared_ptr<const StepPricer> pricer;
  std::optional<std::int64_t> window;  ///< of the model's attention
  std::optional<WorkTotals> work;      ///< empty account of the model; none for round prices
  std::string text;                    ///< for failure messages
};

/// Of a shipped model on a shipped GPU, or of round microseconds (so that arrivals fall on the ends of
/// steps). Windows, crossings of roofs and of host and GPU are put at contexts below `longest`.
RandomPrices random_prices(Dice& dice, std::int64_t longest, const PricerLimits& limits);

}  // namespace inferometer::testing
