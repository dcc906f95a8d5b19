#pragma once

// From files to measurements. Who uses it: `inferometer calibrate`.

#include <string>
#include <vector>

#include "calibration/record/measurement.hpp"

namespace inferometer {

/// What a file does not say itself and the user adds.
struct MeasurementHints {
  std::string gpu;  ///< for files that do not name one; a GPU in a file or in its path goes first
};

/// Reads files of any form we know, and directories of them, recursively and in order of name; those of other
/// forms within a directory, profiles among them, are passed over with a note. Points under equal headers are
/// put together. Throws ConfigError or TraceError, naming file and row: a path that is no such file, a
/// damaged or cut off .gz, a row that does not fit its header, a number that is NaN, infinite, zero or
/// negative, an unknown number format, a file whose times are off by a factor of 1,000. Rows that contradict
/// physics are returned as suspects. O(bytes).
std::vector<Measurements> read_measurements(const std::vector<std::string>& paths,
                                            const MeasurementHints& hints);

}  // namespace inferometer
