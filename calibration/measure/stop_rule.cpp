#include "calibration/measure/stop_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

// What the median of is not at the mercy of one outlier: all that is asked of a kernel that takes seconds.
constexpr std::size_t kFewestSamples = 3;

// Four times as many samples of steady noise make the interval half as wide. That it stays over 0.9 by chance
// is then rare, from so many samples on that the quarter of them has an interval worth comparing with.
constexpr std::size_t kFirstComparison = 64;
constexpr std::size_t kComparedPart = 4;
constexpr double kStillShrinking = 0.9;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  std::sort(values.begin(), values.end());
  return values;
}

/// Of sorted values, `share` of the way from the first to the last.
double quantile(std::span<const double> values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// How many samples may be left off at each end so that those between hold the median with that confidence:
/// the number below it is binomial. Nothing where not even all samples do.
std::optional<std::size_t> left_off(std::size_t count, double confidence) {
  double chance = std::ldexp(1.0, -static_cast<int>(count));  // that no sample lies below the median
  double outside = 0;
  std::size_t ranks = 0;
  while (outside + chance <= (1 - confidence) / 2) {
    outside += chance;
    chance *= static_cast<double>(count - ranks) / static_cast<double>(ranks + 1);
    ++ranks;
  }
  return ranks == 0 ? std::nullopt : std::optional<std::size_t>(ranks - 1);
}

bool has_settled(std::span<const double> samples, double share, double confidence) {
  // Compared only each time that the samples have doubled: every comparison is one more chance to be misled.
  const std::size_t times = samples.size() / kFirstComparison;
  const bool is_due = samples.size() == times * kFirstComparison && times > 0 && (times & (times - 1)) == 0;
  return is_due && share > kStillShrinking * median_interval_share(
                                                 samples.first(samples.size() / kComparedPart), confidence);
}

}  // namespace

std::string to_string(const StopRule& rule) {
  return fmt::format(
      "median of {} to {} samples in at most {} s, until its {:.6g} % interval is narrower than {:.6g} %",
      rule.least_samples, rule.most_samples, rule.most_seconds, 100 * rule.confidence,
      100 * rule.narrow_share);
}

std::optional<StopReason> why_stop(std::span<const double> samples, double elapsed_seconds,
                                   const StopRule& rule) {
  INFEROMETER_CHECK(rule.least_samples >= static_cast<std::int64_t>(kFewestSamples) &&
                        rule.least_samples <= rule.most_samples &&
                        rule.most_samples <= StopRule::kMostSamples && rule.confidence > 0 &&
                        rule.confidence < 1,
                    "the stop rule is within its ranges");
  const auto count = static_cast<std::int64_t>(samples.size());
  if (elapsed_seconds >= rule.most_seconds && samples.size() >= kFewestSamples) {
    return StopReason::most_seconds;
  }
  if (count < rule.least_samples) {
    return std::nullopt;
  }
  const double share = median_interval_share(samples, rule.confidence);
  if (share < rule.narrow_share) {
    return StopReason::narrow;
  }
  if (has_settled(samples, share, rule.confidence)) {
    return StopReason::noise_settled;
  }
  return count >= rule.most_samples ? std::optional(StopReason::most_samples) : std::nullopt;
}

double median_interval_share(std::span<const double> samples, double confidence) {
  const std::vector<double> values = sorted(samples);
  const std::optional<std::size_t> off = left_off(values.size(), confidence);
  if (!off) {
    return std::numeric_limits<double>::infinity();
  }
  return (values[values.size() - 1 - *off] - values[*off]) / quantile(values, 0.5);
}

Quartiles quartiles(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  return {values.front(), quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

}  // namespace inferometer
