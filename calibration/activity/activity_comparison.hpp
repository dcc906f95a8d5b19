#pragma once

// Measured and simulated activity of the same phases of the same GPUs. Who uses it: `inferometer calibrate
// activity --simulated`.

#include <optional>
#include <string>
#include <vector>

#include "calibration/activity/activity_summary.hpp"

namespace inferometer {

/// A phase of a measured GPU and of the simulated one that stands for it; what does not occur on a side is
/// absent there.
struct ActivityPair {
  std::string gpu;  ///< "GPU 0", or "GPU 4 / GPU 0" where the names differ
  std::string phase;
  std::optional<PhaseActivity> measured, simulated;
};

struct ActivityComparison {
  std::vector<ActivityPair> pairs;  ///< by measured GPU, phases in the order of either summary
  std::vector<std::string> notes;   ///< GPUs without a partner
};

/// GPUs are partners by name; where no name is on both sides, in their order.
ActivityComparison compare_activity(const std::vector<GpuActivity>& measured,
                                    const std::vector<GpuActivity>& simulated);

}  // namespace inferometer
