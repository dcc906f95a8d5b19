#pragma once

#include <vector>

#include "base/text_input/line_source.hpp"
#include "calibration/record/gpu_names.hpp"
#include "calibration/record/measurement.hpp"
#include "calibration/record/read_measurements.hpp"

namespace inferometer {

/// The sets of one file of any form we know, checked: at least one. Of no form we know: none, or an error
/// when there `must_be` measurements. The rest as read_measurements(). Inputs are those that a record file
/// lists.
std::vector<Measurements> read_measurement_file(LineSource& lines, bool must_be, const GpuNames& gpus,
                                                const MeasurementHints& hints);

}  // namespace inferometer
