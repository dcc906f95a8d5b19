#include "sim/metrics/held_blocks.hpp"

namespace inferometer {

// Step r of round m holds h_r + p m blocks for a + b (r + n m), of rounds of n steps that end with p more
// each.
Int128 held_rounds_integral(const StepRecord& record, std::int64_t steps) {
  const Stretch& stretch = record.stretch;
  Int128 integral = 0;
  const auto n = static_cast<std::int64_t>(record.held_rounds.size());
  const std::int64_t whole_rounds = steps / n;
  const std::int64_t rest = steps - whole_rounds * n;
  for (std::int64_t r = 0; r < rest; ++r) {
    const std::int64_t held =
        record.held_rounds[static_cast<std::size_t>(r)] + record.held_per_round * whole_rounds;
    integral += Int128{held} * stretch.time_at(whole_rounds * n + r).count();
  }
  if (whole_rounds == 0) {
    return integral;
  }
  std::int64_t held = 0;           // sum of h_r
  std::int64_t held_by_place = 0;  // sum of h_r r
  for (std::int64_t r = 0; r < n; ++r) {
    held += record.held_rounds[static_cast<std::size_t>(r)];
    held_by_place += record.held_rounds[static_cast<std::size_t>(r)] * r;
  }
  const Int128 a = stretch.time_at(0).count();
  const Int128 b = stretch.growth().total().count();
  const Int128 p = record.held_per_round;
  const Int128 m = whole_rounds;
  const Int128 first_round = a * held + b * held_by_place;
  const Int128 growth_by_round = b * n * held + p * (a * n + b * n * (n - 1) / 2);
  return integral + m * first_round + m * (m - 1) / 2 * growth_by_round +
         (m - 1) * m * (2 * m - 1) / 6 * (p * b * n * n);
}

}  // namespace inferometer
