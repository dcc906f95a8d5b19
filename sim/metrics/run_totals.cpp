#include "sim/metrics/run_totals.hpp"

#include <algorithm>

namespace inferometer {

// Step r of round m holds h_r + p m blocks for a + b (r + n m), of rounds of n steps that end with p more
// each.
void LevelTotals::add_held_rounds(const StepRecord& steps) {
  const Stretch& stretch = steps.stretch;
  const std::int64_t count = stretch.steps();
  const auto n = static_cast<std::int64_t>(steps.held_rounds.size());
  const std::int64_t whole_rounds = count / n;
  const std::int64_t rest = count - whole_rounds * n;
  for (std::int64_t r = 0; r < rest; ++r) {
    const std::int64_t held =
        steps.held_rounds[static_cast<std::size_t>(r)] + steps.held_per_round * whole_rounds;
    integral += Int128{held} * stretch.time_at(whole_rounds * n + r).count();
  }
  peak = std::max(peak, steps.held_during(count - 1));
  if (whole_rounds == 0) {
    return;
  }
  std::int64_t held = 0;           // sum of h_r
  std::int64_t held_by_place = 0;  // sum of h_r r
  for (std::int64_t r = 0; r < n; ++r) {
    held += steps.held_rounds[static_cast<std::size_t>(r)];
    held_by_place += steps.held_rounds[static_cast<std::size_t>(r)] * r;
  }
  const Int128 a = stretch.time_at(0).count();
  const Int128 b = stretch.growth().total().count();
  const Int128 p = steps.held_per_round;
  const Int128 m = whole_rounds;
  const Int128 first_round = a * held + b * held_by_place;
  const Int128 growth_by_round = b * n * held + p * (a * n + b * n * (n - 1) / 2);
  integral +=
      m * first_round + m * (m - 1) / 2 * growth_by_round + (m - 1) * m * (2 * m - 1) / 6 * (p * b * n * n);
}

CostSum PoolTotals::cost() const {
  CostSum sum;
  for (const PhaseTotals& phase : phases) {
    sum += phase.cost.sum();
  }
  return sum;
}

Int128 RunTotals::waiting_integral() const {
  Int128 integral = stays + Int128{in_system} * last_event.since_start().count();
  for (const PoolTotals& pool : pools) {
    integral -= pool.running.integral;
  }
  return integral;
}

std::int64_t RunTotals::max_waiting() const {
  std::int64_t most = 0;
  for (const PoolTotals& pool : pools) {
    most = std::max(most, pool.max_waiting);
  }
  return most;
}

std::int64_t RunTotals::preemptions() const {
  std::int64_t sum = 0;
  for (const PoolTotals& pool : pools) {
    sum += pool.preemptions;
  }
  return sum;
}

CostSum RunTotals::cost() const {
  CostSum sum;
  for (const PoolTotals& pool : pools) {
    sum += pool.cost();
  }
  return sum;
}

}  // namespace inferometer
