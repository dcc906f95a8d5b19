#include "sim/study/plan/latency_floors.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "sim/metrics/duration_distribution.hpp"

namespace inferometer {
namespace {

/// TPOT is rounded to a picosecond, and floors are sums of doubles.
constexpr double kRounding = 1 - 1e-6;

double ttft_seconds(std::span<const PoolCost> pools, const RequestWork& work) {
  double least = std::numeric_limits<double>::max();
  for (const PoolCost& pool : pools) {
    least = std::min(least, least_ttft_seconds(pool, work));
  }
  return least;
}

double gap_seconds(std::span<const PoolCost> pools, double context) {
  double least = std::numeric_limits<double>::max();
  for (const PoolCost& pool : pools) {
    if (pool.decodes) {
      least = std::min(least, least_gap_seconds(pool, context));
    }
  }
  return least;
}

/// A gap may bring several tokens.
double token_seconds(std::span<const PoolCost> pools, double context) {
  double least = std::numeric_limits<double>::max();
  for (const PoolCost& pool : pools) {
    if (pool.decodes) {
      least = std::min(least, least_gap_seconds(pool, context) / pool.tokens_per_decode);
    }
  }
  return least;
}

bool is_within(double seconds, const std::optional<Duration>& limit) {
  return !limit || seconds <= to_seconds(*limit);
}

/// Of ascending values, as DurationDistribution reads them.
double percentile(std::span<const double> values, std::int64_t percent, PercentileRule rule) {
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  if (rule == PercentileRule::floor_of_rank) {
    const std::int64_t rank = percent * static_cast<std::int64_t>(values.size()) / 100;
    return values[static_cast<std::size_t>(std::min(rank, last))];
  }
  const std::int64_t scaled = percent * last;
  const double low = values[static_cast<std::size_t>(scaled / 100)];
  const double high = values[static_cast<std::size_t>(std::min(scaled / 100 + 1, last))];
  return low + (high - low) * static_cast<double>(scaled % 100) / 100;
}

}  // namespace

std::int64_t percent_of(LatencyStatistic statistic) {
  switch (statistic) {
    case LatencyStatistic::p50:
      return 50;
    case LatencyStatistic::p90:
      return 90;
    case LatencyStatistic::p95:
      return 95;
    case LatencyStatistic::p99:
      return 99;
    case LatencyStatistic::mean:
      break;
  }
  check_failed("statistic", __FILE__, __LINE__, "a mean is no percentile");
}

LatencyFloors latency_floors(std::span<const PoolCost> pools, std::span<const RequestWork> works,
                             const RequestLimits& limits) {
  LatencyFloors floors;
  for (const RequestWork& work : works) {
    if (work.prompt == 0) {
      continue;
    }
    const auto gaps = static_cast<double>(work.later);
    const double ttft = kRounding * ttft_seconds(pools, work);
    const double tpot = work.later > 0 ? kRounding * token_seconds(pools, work.decode_context / gaps) : 0;
    const double e2el = ttft + gaps * tpot;
    floors.ttft.push_back(ttft);
    floors.e2el.push_back(e2el);
    if (work.later > 0) {
      floors.tpot.push_back(tpot);
    }
    floors.good +=
        is_within(ttft, limits.ttft) && is_within(tpot, limits.tpot) && is_within(e2el, limits.e2el) ? 1 : 0;
  }
  if (!floors.tpot.empty()) {
    floors.gap = kRounding * gap_seconds(pools, 1);
  }
  for (std::vector<double>* const values : {&floors.ttft, &floors.tpot, &floors.e2el}) {
    std::sort(values->begin(), values->end());
  }
  return floors;
}

std::optional<double> least_statistic_seconds(const LatencyFloors& floors, LatencyMetric metric,
                                              LatencyStatistic statistic, const StatisticRules& rules,
                                              std::int64_t failed) {
  const bool is_of_gaps = metric == LatencyMetric::itl && rules.definitions != MetricDefinitions::aiperf;
  if (is_of_gaps) {
    // Whichever gaps there are. A sketch knows the smallest exactly.
    return static_cast<std::int64_t>(floors.tpot.size()) > failed ? floors.gap : std::nullopt;
  }
  const std::vector<double>& values = metric == LatencyMetric::ttft   ? floors.ttft
                                      : metric == LatencyMetric::e2el ? floors.e2el
                                                                      : floors.tpot;
  const std::int64_t kept = static_cast<std::int64_t>(values.size()) - failed;
  if (kept <= 0) {
    return std::nullopt;
  }
  const std::span<const double> lowest(values.data(), static_cast<std::size_t>(kept));
  if (statistic == LatencyStatistic::mean) {
    return std::accumulate(lowest.begin(), lowest.end(), 0.0) / static_cast<double>(kept);
  }
  const PercentileRule rule =
      rules.definitions == MetricDefinitions::mlperf ? PercentileRule::floor_of_rank : PercentileRule::linear;
  const double sketched =
      rules.percentiles == Percentiles::sketch ? 1 - DurationDistribution::kSketchError : 1;
  return sketched * percentile(lowest, percent_of(statistic), rule);
}

}  // namespace inferometer
