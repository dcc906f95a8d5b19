#pragma once

// How busy GPUs were, as NVIDIA's monitor writes it down: `dcgmi dmon -e 1002,1005 -d 100`. Who uses it:
// `inferometer calibrate activity`, on logs of real GPUs and on those that `inferometer run --activity`
// writes.

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_input/line_source.hpp"

namespace inferometer {

/// What DCGM's profiling fields say of one sampling period, as shares of it.
struct ActivitySample {
  std::int64_t row = 0;  ///< of its GPU, from 0: each row is a period later
  double sm = 0;         ///< field 1002, SMACT: time in which an SM had a warp, averaged over the SMs
  double dram = 0;       ///< field 1005, DRAMA: cycles in which device memory sent or received
};

/// The rows of one GPU, or of one MIG instance.
struct GpuLog {
  std::string name;                     ///< "GPU 0", "GPU-I 3"
  std::int64_t rows = 0;                ///< those with N/A included
  std::vector<ActivitySample> samples;  ///< those with both values, ascending
};

struct ActivityLog {
  std::vector<GpuLog> gpus;        ///< in order of first appearance, at least one
  std::vector<std::string> notes;  ///< what was passed over
};

/// Counters of the two ends of a period are not read at quite the same moment: a share may pass 1 by so much.
inline constexpr double kMostActivity = 1.05;

/// Reads a whole log: a header ("#Entity   SMACT   DRAMA", other columns among them), a line of units, rows,
/// headers again among them, the line that a stopped monitor leaves. Throws ConfigError with the places of
/// all mistakes: no column SMACT or DRAMA, a header unlike the first, a row of another length, a value that
/// is neither N/A nor from 0 to kMostActivity, no sample at all. O(bytes).
ActivityLog read_activity_log(LineSource& lines);

}  // namespace inferometer
