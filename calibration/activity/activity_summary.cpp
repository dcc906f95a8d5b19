#include "calibration/activity/activity_summary.hpp"

#include <algorithm>
#include <map>

#include "base/quantile.hpp"

namespace inferometer {
namespace {

ActivitySpread spread_of(std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  double sum = 0;
  for (const double share : shares) {
    sum += share;
  }
  return {sum / static_cast<double>(shares.size()), quantile(shares, 0.1), quantile(shares, 0.5),
          quantile(shares, 0.9)};
}

PhaseActivity activity_of(std::string_view phase, const std::vector<ActivitySample>& samples,
                          std::size_t all_samples) {
  std::vector<double> sm, dram;
  for (const ActivitySample& sample : samples) {
    sm.push_back(sample.sm);
    dram.push_back(sample.dram);
  }
  return {std::string(phase), static_cast<std::int64_t>(samples.size()),
          static_cast<double>(samples.size()) / static_cast<double>(all_samples), spread_of(std::move(sm)),
          spread_of(std::move(dram))};
}

/// Names in the order in which a table shows them, none twice.
std::vector<std::string_view> phase_order(const ActivitySettings& settings) {
  if (settings.windows.empty()) {
    return {kIdlePhase, kPrefillPhase, kDecodePhase};
  }
  std::vector<std::string_view> order;
  for (const PhaseWindow& window : settings.windows) {
    if (std::find(order.begin(), order.end(), window.name) == order.end()) {
      order.emplace_back(window.name);
    }
  }
  if (std::find(order.begin(), order.end(), kOutsidePhase) == order.end()) {
    order.push_back(kOutsidePhase);
  }
  return order;
}

}  // namespace

std::vector<GpuActivity> summarize_activity(const std::vector<GpuLog>& gpus,
                                            const ActivitySettings& settings) {
  std::vector<GpuActivity> summary;
  for (const GpuLog& gpu : gpus) {
    GpuActivity activity{gpu.name, gpu.rows - static_cast<std::int64_t>(gpu.samples.size()), {}};
    std::map<std::string_view, std::vector<ActivitySample>> by_phase;
    for (const ActivitySample& sample : gpu.samples) {
      by_phase[settings.windows.empty() ? phase_of(sample)
                                        : phase_of(sample, settings.period_s, settings.windows)]
          .push_back(sample);
    }
    if (!gpu.samples.empty()) {
      activity.phases.push_back(activity_of(kAllPhases, gpu.samples, gpu.samples.size()));
    }
    for (const std::string_view phase : phase_order(settings)) {
      if (const auto found = by_phase.find(phase); found != by_phase.end()) {
        activity.phases.push_back(activity_of(phase, found->second, gpu.samples.size()));
      }
    }
    summary.push_back(std::move(activity));
  }
  return summary;
}

}  // namespace inferometer
