#include "sim/metrics/duration_distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/metrics/run_selection.hpp"

namespace inferometer {
namespace {

/// An exact sum in 192 bits.
class WideSum {
 public:
  /// Precondition: 0 <= times < 2^63.
  void add(Int128 term, Int128 times) {
    low_ += static_cast<std::uint64_t>(term) * times;
    high_ += (term >> 64) * times + (low_ >> 64);
    low_ = static_cast<std::uint64_t>(low_);
  }
  [[nodiscard]] double value() const {
    return std::ldexp(static_cast<double>(high_), 64) + static_cast<double>(low_);
  }

 private:
  Int128 high_ = 0;
  Int128 low_ = 0;  // below 2^64
};

/// Adds (first - origin + i * difference)^2 over a run's terms, from the sums of 1, i and i^2. The factors
/// stay apart: each fits 128 bits, their products need not.
void add_squares_around(std::int64_t origin, const DurationDistribution::Run& run, WideSum& sum) {
  const Int128 offset = run.first - origin;
  const Int128 difference = run.difference;
  const Int128 n = run.length;
  const Int128 sum_of_i = n * (n - 1) / 2;
  const Int128 sum_of_squares = n * (n - 1) * (2 * n - 1) / 6;
  sum.add(offset * offset, run.count * n);
  sum.add(2 * offset * difference, run.count * sum_of_i);
  sum.add(difference * difference, run.count * sum_of_squares);
}

/// A place among sorted values: `hundredths` of the way from rank `lower` to
/// rank `upper`.
struct Place {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t hundredths = 0;
};

Place place_of(std::int64_t percent, std::int64_t count, PercentileRule rule) {
  if (rule == PercentileRule::floor_of_rank) {
    const std::int64_t rank = std::min(percent * count / 100, count - 1);
    return {rank, rank, 0};
  }
  const std::int64_t scaled = percent * (count - 1);
  return {scaled / 100, std::min(scaled / 100 + 1, count - 1), scaled % 100};
}

double milliseconds_of(const Place& place, std::int64_t lower, std::int64_t upper) {
  const Int128 scaled = Int128{lower} * 100 + Int128{upper - lower} * place.hundredths;
  return static_cast<double>(scaled) / (100 * kPicosecondsPerMillisecond);
}

}  // namespace

void DurationDistribution::add_progression(Duration first, Duration difference, std::int64_t length,
                                           std::int64_t count) {
  const std::int64_t step = difference.count();
  if (count > kMostRepeats || std::clamp(step, -kSteepest, kSteepest) != step) {
    for (std::int64_t i = 0; i < length; ++i) {
      add(first + difference * i, count);
    }
    return;
  }
  std::int64_t value = first.count();
  add_to_runs(value, count);
  for (std::int64_t left = length - 1; left > 0;) {
    value += step;
    add_to_runs(value, count);  // the last run grows in this direction now, or a new one begins
    --left;
    Run& run = runs_.back();
    if (run.length > 1 && left > 0) {
      const std::int64_t more = std::min(left, kLongest - run.length);
      run.length = static_cast<std::uint16_t>(run.length + more);
      value += step * more;
      last_ = value;
      left -= more;
    }
  }
}

std::int64_t DurationDistribution::count() const {
  std::int64_t count = 0;
  for (const Run& run : runs_) {
    count += run.terms();
  }
  return count;
}

Int128 DurationDistribution::sum() const {
  Int128 sum = 0;
  for (const Run& run : runs_) {
    const Int128 n = run.length;
    sum += run.count * (n * run.first + n * (n - 1) / 2 * run.difference);
  }
  return sum;
}

// Deviations are taken from the mean's whole part, which leaves no digits to
// cancel.
double DurationDistribution::standard_deviation_ms(std::int64_t count, Int128 sum) const {
  const auto origin = static_cast<std::int64_t>(sum / count);
  WideSum squares;
  for (const Run& run : runs_) {
    add_squares_around(origin, run, squares);
  }
  const double fraction = static_cast<double>(sum % count) / static_cast<double>(count);
  const double variance = squares.value() / static_cast<double>(count) - fraction * fraction;
  return std::sqrt(std::max(variance, 0.0)) / kPicosecondsPerMillisecond;
}

std::optional<DurationStatistics> DurationDistribution::statistics(PercentileRule rule) const {
  const std::int64_t n = count();
  if (n == 0) {
    return std::nullopt;
  }
  // Minimum and maximum are percentiles as well.
  const std::array<Place, 7> places = {Place{0, 0, 0},        place_of(50, n, PercentileRule::linear),
                                       place_of(50, n, rule), place_of(90, n, rule),
                                       place_of(95, n, rule), place_of(99, n, rule),
                                       Place{n - 1, n - 1, 0}};
  std::vector<std::int64_t> ranks;
  for (const Place& place : places) {
    ranks.push_back(place.lower);
    ranks.push_back(place.upper);
  }
  std::sort(ranks.begin(), ranks.end());
  const std::vector<std::int64_t> values = select_ranks(runs_, ranks);
  const auto value_at = [&](std::int64_t rank) {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return values[static_cast<std::size_t>(found - ranks.begin())];
  };
  const auto ms_at = [&](std::size_t index) {
    const Place& place = places[index];
    return milliseconds_of(place, value_at(place.lower), value_at(place.upper));
  };
  const Int128 total = sum();
  DurationStatistics statistics;
  statistics.count = n;
  statistics.mean_ms = static_cast<double>(total) / (static_cast<double>(n) * kPicosecondsPerMillisecond);
  statistics.std_ms = standard_deviation_ms(n, total);
  statistics.min_ms = ms_at(0);
  statistics.median_ms = ms_at(1);
  statistics.p50_ms = ms_at(2);
  statistics.p90_ms = ms_at(3);
  statistics.p95_ms = ms_at(4);
  statistics.p99_ms = ms_at(5);
  statistics.max_ms = ms_at(6);
  return statistics;
}

}  // namespace inferometer
