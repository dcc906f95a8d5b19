#pragma once

// Which phase of serving a sample belongs to: by the user's times, or by what the sample itself says. Who
// uses it: activity_summary.hpp.

#include <string>
#include <string_view>
#include <vector>

#include "base/text_input/line_source.hpp"
#include "calibration/activity/activity_log.hpp"

namespace inferometer {

/// Seconds from the start of the log on.
struct PhaseWindow {
  double start_s = 0, end_s = 0;
  std::string name;
};

/// A CSV file of columns start_s, end_s and name. Throws ConfigError, naming file, line and column: a column
/// missing, unknown or there twice, no number or one below 0, an end that is not after its start, windows
/// that overlap or are not in order, no name or a reserved one ("all", "outside"), no window at all.
std::vector<PhaseWindow> read_phase_windows(LineSource& lines);

/// SM activity below this: nothing runs but now and then a kernel.
inline constexpr double kIdleBelow = 0.05;
/// DRAM over SM activity from which a sample counts as bound by bandwidth. A step that only decodes reads all
/// weights and keeps the memory busy for most of the time that its kernels run; the kernels of a prefill read
/// them once for many tokens, and leave it idle for most. Half lies between, with mixed steps on either side.
inline constexpr double kBandwidthBoundFrom = 0.5;

inline constexpr std::string_view kIdlePhase = "idle";
inline constexpr std::string_view kPrefillPhase = "prefill-like";
inline constexpr std::string_view kDecodePhase = "decode-like";
/// Of all samples, whatever their phase.
inline constexpr std::string_view kAllPhases = "all";
/// Of samples that no window holds.
inline constexpr std::string_view kOutsidePhase = "outside";

/// By the rule above.
std::string_view phase_of(const ActivitySample& sample);
/// By the middle of the sample's period: start <= middle < end. `windows` ascend. O(log windows).
std::string_view phase_of(const ActivitySample& sample, double period_s,
                          const std::vector<PhaseWindow>& windows);

}  // namespace inferometer
