#include "sim/metrics/stability.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace inferometer {
namespace {

constexpr std::int64_t kFewestArrivals = 100;
constexpr double kTolerableShare = 0.05;
constexpr double kDeviations = 4;
constexpr double kClearlyTooMuch = 1.05;

/// Slope of the least-squares line through samples [begin, end) at places 0, 1, 2, ...
double slope(const std::vector<std::int64_t>& samples, std::size_t begin) {
  const auto n = static_cast<std::int64_t>(samples.size() - begin);
  Int128 moment = 0;  // twice the sum of (place - mean place) * sample
  for (std::int64_t i = 0; i < n; ++i) {
    moment += Int128{2 * i - (n - 1)} * samples[begin + static_cast<std::size_t>(i)];
  }
  const Int128 spread = Int128{n} * (n * n - 1);  // 12 times the sum of (place - mean place)^2
  return 6 * static_cast<double>(moment) / static_cast<double>(spread);
}

/// Squared coefficient of variation of the gaps between arrivals.
double gap_variation(const ArrivalTotals& arrivals) {
  const auto window = static_cast<double>((arrivals.last - arrivals.first).count());
  const auto gaps = static_cast<double>(arrivals.count - 1);
  return static_cast<double>(arrivals.squared_gaps) * gaps / (window * window) - 1;
}

std::string why_not_applicable(const ArrivalTotals& arrivals, bool closed_loop) {
  if (closed_loop) {
    return "a closed loop holds itself back: its queue cannot grow without end";
  }
  if (arrivals.count > 1 && arrivals.first == arrivals.last) {
    return "all requests came at once: there is no arrival rate to keep up with";
  }
  if (arrivals.count < kFewestArrivals) {
    return fmt::format("{} arrivals are too few to tell growth from chance", arrivals.count);
  }
  return "";
}

}  // namespace

std::string_view to_string(QueueStability stability) {
  switch (stability) {
    case QueueStability::stable:
      return "stable";
    case QueueStability::unstable:
      return "unstable";
    case QueueStability::not_applicable:
      return "not applicable";
  }
  return "";
}

StabilityReport judge_stability(const ArrivalTotals& arrivals, bool closed_loop,
                                std::optional<double> estimated_capacity_per_second, bool without_caches) {
  StabilityReport report;
  report.is_without_caches = without_caches;
  if (arrivals.count > 1 && arrivals.last > arrivals.first) {
    report.offered_per_second =
        static_cast<double>(arrivals.count - 1) / to_seconds(arrivals.last - arrivals.first);
  }
  report.sentence = why_not_applicable(arrivals, closed_loop);
  if (!report.sentence.empty()) {
    return report;
  }
  if (estimated_capacity_per_second) {
    report.load = report.offered_per_second / *estimated_capacity_per_second;
  }
  const std::vector<std::int64_t>& samples = arrivals.in_system.kept();
  const std::size_t middle = samples.size() / 2;
  const auto stride = arrivals.in_system.stride();
  const double share = slope(samples, middle) / static_cast<double>(stride);
  const auto late = static_cast<double>(static_cast<std::int64_t>(samples.size() - middle) * stride);
  const double chance = kDeviations * std::sqrt(late * std::max(1.0, gap_variation(arrivals)));
  const auto waiting = static_cast<double>(arrivals.waiting_at_last);
  report.growth_share = share;
  if (share > kTolerableShare && waiting > chance) {
    report.verdict = QueueStability::unstable;
    report.sentence = fmt::format(
        "the queue grew to the end: {} requests waited at the last arrival, and of the arrivals in the "
        "second half "
        "{:.0f} % stayed; latencies grow with the length of the run",
        arrivals.waiting_at_last, 100 * share);
  } else if (report.load && !without_caches && *report.load > kClearlyTooMuch && waiting > chance) {
    report.verdict = QueueStability::unstable;
    report.sentence = fmt::format(
        "{} requests waited at the last arrival, and more is offered than can be worked off: latencies grow "
        "with the length of the run",
        arrivals.waiting_at_last);
  } else if (share > kTolerableShare && share * late > chance) {
    report.sentence = fmt::format(
        "the run was still filling up at its end (of the arrivals in the second half {:.0f} % stayed, few of "
        "them "
        "waiting): too short to say",
        100 * share);
  } else {
    report.verdict = QueueStability::stable;
    report.sentence =
        fmt::format("the queue {}: {} requests waited at the last arrival",
                    waiting > chance ? "is long, but did not grow in the second half" : "settled",
                    arrivals.waiting_at_last);
  }
  return report;
}

}  // namespace inferometer
