#pragma once

#include <string>
#include <vector>

#include "calibration/activity/activity_comparison.hpp"
#include "calibration/activity/activity_summary.hpp"

namespace inferometer {

/// What `inferometer calibrate activity` prints: a line a GPU and phase, and how phases were told apart.
std::string activity_text(const std::vector<GpuActivity>& gpus, const ActivitySettings& settings);

/// The same with --simulated: measured and simulated means side by side, with differences.
std::string activity_comparison_text(const ActivityComparison& comparison, const ActivitySettings& settings);

}  // namespace inferometer
