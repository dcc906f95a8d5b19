#pragma once

#include "sim/cli/validation_report.hpp"
#include "sim/report/page/page.hpp"

namespace inferometer {

/// Measured against predicted as a page: the summary, and for each kind of metric a chart of all values
/// beside the line on which they would agree, and one of the errors by distance to saturation. Saturated runs
/// are in neither.
Page validation_page(const ValidatedRuns& validated);

}  // namespace inferometer
