#pragma once

#include "base/text_input/line_source.hpp"
#include "calibration/record/measurement.hpp"

namespace inferometer {

/// The header of a record file, its first line. Throws ConfigError when it is none.
MeasurementHeader read_record_header(LineSource& lines);

}  // namespace inferometer
