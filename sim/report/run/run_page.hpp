#pragma once

// The report of a run, for people: the answer first, then latencies, the run over time, the roofline, where
// the time went, what it costs, and what it stands on. Who uses it: `inferometer run --report`.

#include "sim/report/page/page.hpp"
#include "sim/report/report.hpp"
#include "sim/report/run/run_charts.hpp"

namespace inferometer {

/// What stands in it as a number of results.json names its field there. A section without anything to show
/// says why. Precondition: `charts` are of the same run. O(bins and cells of the charts).
Page run_page(const Report& report, const RunCharts& charts);

}  // namespace inferometer
