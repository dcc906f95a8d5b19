#include "sim/metrics/duration_distribution.hpp"

#include <algorithm>
#include <array>

#include "sim/metrics/run_selection.hpp"

namespace inferometer {
namespace {

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
  moments_.add_progression(first, difference, length, count);
  histogram_.add_progression(first, difference, length, count);
  if (!is_exact_) {
    return;
  }
  for (; count > kMostRepeats; count -= kMostRepeats) {
    add_progression_to_runs(first.count(), difference.count(), length, kMostRepeats);
  }
  add_progression_to_runs(first.count(), difference.count(), length, count);
}

void DurationDistribution::add_progression_to_runs(std::int64_t first, std::int64_t difference,
                                                   std::int64_t length, std::int64_t count) {
  if (std::clamp(difference, -kSteepest, kSteepest) != difference) {
    for (std::int64_t i = 0; i < length; ++i) {
      add_to_runs(first + difference * i, count);
    }
    return;
  }
  std::int64_t value = first;
  add_to_runs(value, count);
  for (std::int64_t left = length - 1; left > 0;) {
    value += difference;
    add_to_runs(value, count);  // the open run grows in this direction now, or a new one begins
    --left;
    if (open_.length > 1 && left > 0) {
      const std::int64_t more = std::min(left, kLongest - open_.length);
      open_.length = static_cast<std::uint16_t>(open_.length + more);
      value += difference * more;
      last_ = value;
      left -= more;
    }
  }
}

std::vector<std::int64_t> DurationDistribution::at_ranks(std::span<const std::int64_t> ranks) const {
  if (is_exact_) {
    return select_ranks({singles_, repetitions_, runs_, open_}, histogram_, ranks);
  }
  return near_ranks(ranks);
}

std::vector<std::int64_t> DurationDistribution::near_ranks(std::span<const std::int64_t> ranks) const {
  std::vector<std::int64_t> values = middles_at_ranks(histogram_, ranks);
  for (std::int64_t& value : values) {
    value = std::clamp(value, moments_.least().count(), moments_.most().count());
  }
  return values;
}

std::optional<DurationStatistics> DurationDistribution::statistics(PercentileRule rule) const {
  const std::int64_t n = count();
  if (n == 0) {
    return std::nullopt;
  }
  const std::array<Place, 5> places = {place_of(50, n, PercentileRule::linear), place_of(50, n, rule),
                                       place_of(90, n, rule), place_of(95, n, rule), place_of(99, n, rule)};
  std::vector<std::int64_t> ranks;
  for (const Place& place : places) {
    ranks.push_back(place.lower);
    ranks.push_back(place.upper);
  }
  std::sort(ranks.begin(), ranks.end());
  const std::vector<std::int64_t> values = at_ranks(ranks);
  const auto value_at = [&](std::int64_t rank) {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return values[static_cast<std::size_t>(found - ranks.begin())];
  };
  const auto ms_at = [&](std::size_t index) {
    const Place& place = places[index];
    return milliseconds_of(place, value_at(place.lower), value_at(place.upper));
  };
  DurationStatistics statistics;
  statistics.count = n;
  statistics.mean_ms = moments_.mean_ms();
  statistics.std_ms = moments_.standard_deviation_ms();
  statistics.min_ms = milliseconds_of({}, moments_.least().count(), moments_.least().count());
  statistics.max_ms = milliseconds_of({}, moments_.most().count(), moments_.most().count());
  statistics.median_ms = ms_at(0);
  statistics.p50_ms = ms_at(1);
  statistics.p90_ms = ms_at(2);
  statistics.p95_ms = ms_at(3);
  statistics.p99_ms = ms_at(4);
  return statistics;
}

}  // namespace inferometer
