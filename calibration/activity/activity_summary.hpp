#pragma once

// How busy each GPU was, phase by phase. Who uses it: `inferometer calibrate activity`.

#include <cstdint>
#include <string>
#include <vector>

#include "calibration/activity/activity_log.hpp"
#include "calibration/activity/activity_phases.hpp"

namespace inferometer {

/// Of shares from 0 to 1; quantiles are straight between neighbours.
struct ActivitySpread {
  double mean = 0, p10 = 0, p50 = 0, p90 = 0;
};

struct PhaseActivity {
  std::string phase;         ///< "all" for the sum
  std::int64_t samples = 0;  ///< >= 1
  double time_share = 0;     ///< of the GPU's samples
  ActivitySpread sm, dram;
};

struct GpuActivity {
  std::string name;
  std::int64_t missing = 0;           ///< rows with N/A, which count nowhere
  std::vector<PhaseActivity> phases;  ///< "all", then those that occur, in the rule's or the windows' order;
                                      ///< empty when no row had both values
};

struct ActivitySettings {
  double period_s = 0.1;             ///< from one row of a GPU to the next: dcgmi dmon -d 100
  std::vector<PhaseWindow> windows;  ///< empty: samples tell their phase themselves
};

/// Windows of one name are one phase. O(samples log samples).
std::vector<GpuActivity> summarize_activity(const std::vector<GpuLog>& gpus,
                                            const ActivitySettings& settings);

}  // namespace inferometer
