#include "sim/metrics/run_totals.hpp"

#include <algorithm>

#include "sim/metrics/held_blocks.hpp"

namespace inferometer {

void LevelTotals::add_held_rounds(const StepRecord& steps) {
  const std::int64_t count = steps.stretch.steps();
  integral += held_rounds_integral(steps, count);
  peak = std::max(peak, steps.held_during(count - 1));
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
