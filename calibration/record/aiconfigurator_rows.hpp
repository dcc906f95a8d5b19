#pragma once

// The operations of aiconfigurator's tables as kernel calls.

#include <functional>
#include <string_view>

#include "calibration/record/file_contents.hpp"
#include "calibration/record/measurement_csv.hpp"

namespace inferometer {

/// Fills the call from the current row. False when the row is left out on purpose; what is wrong with it is
/// among the table's errors.
using AiconfiguratorRowReader = std::function<bool(KernelCall& call)>;

/// The reader of rows of that op_name, which reports and leaves out through `csv` and `contents`; these
/// outlive it. Operations without a family are left out row by row. A column that is missing is among the
/// table's errors.
AiconfiguratorRowReader aiconfigurator_row_reader(std::string_view operation, MeasurementCsv& csv,
                                                  FileContents& contents);

}  // namespace inferometer
