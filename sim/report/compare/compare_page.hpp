#pragma once

#include "sim/report/compare/compare_report.hpp"
#include "sim/report/page/page.hpp"

namespace inferometer {

/// report.html of a comparison: the answer first, with what makes it less sure; curves over the rates;
/// differences, distributions and time for each load; cost and energy; what all of it stands on.
Page compare_page(const CompareReport& report);

}  // namespace inferometer
