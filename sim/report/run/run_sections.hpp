#pragma once

// The parts of a run's page, in the order of the page. Each is whole for every run: what there is nothing to
// show of has a sentence that says why. Who uses it: run_page().

#include <vector>

#include "sim/report/page/page.hpp"
#include "sim/report/report.hpp"
#include "sim/report/run/run_charts.hpp"

namespace inferometer {

/// What came out, whether limits were kept, and what makes figures less than they seem: a run that was cut
/// off, a queue that grew, requests that were turned away, prices beyond what was measured.
std::vector<Paragraph> answer_of(const Report& report);

/// The headline figures and each limit.
Section headline_section(const Report& report);
/// Distributions and statistics of latencies.
Section latency_section(const Report& report, const RunCharts& charts);
/// KV cache, requests and batches over simulated time.
Section timeline_section(const Report& report, const RunCharts& charts);
/// Steps under the roofs of the GPU.
Section roofline_section(const Report& report, const RunCharts& charts);
/// Shares of time by what it was spent on, and steps by phase.
Section time_section(const Report& report);
/// How many drafted tokens were accepted. Precondition: report.summary.speculation.
Section speculation_section(const Report& report);
Section cost_section(const Report& report);
/// Pools, transfers, links, replicas that came and went. Precondition: report.summary.cluster.
Section cluster_section(const Report& report);
/// Cost model, intervals, extrapolation, notes, stepper.
Section basis_section(const Report& report);
/// Files with their hashes, the scenario with all defaults.
Section input_section(const Report& report);

}  // namespace inferometer
