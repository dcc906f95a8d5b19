#pragma once

#include "sim/report/report.hpp"
#include "tests/unit/sim/four_requests.hpp"

namespace inferometer::test {

/// The four requests of four_requests.hpp with limits that some of them miss, a price and 48 KV blocks.
inline Report report_of_four() {
  SloTargets slo;
  slo.targets = {{LatencyMetric::ttft, LatencyStatistic::p99, milliseconds(50)},
                 {LatencyMetric::itl, LatencyStatistic::p99, milliseconds(18)}};
  slo.request = {milliseconds(30), milliseconds(12), std::nullopt};
  slo.goodput_min = 0.4;
  RecorderOptions options;
  options.limits = slo.request;
  MetricsRecorder recorder(1, std::nullopt, options);
  replay_four_requests(recorder);
  SummarySettings settings;
  settings.census = {.injected = 4, .completed = 4};
  settings.pools[0].kv_blocks = 48;
  settings.pools[0].price = DollarsPerHour(3.6);
  Report report;
  report.scenario = "four requests";
  report.program_version = "1.2.3";
  report.summary = summarize(recorder, settings);
  report.slo = evaluate(slo, report.summary);
  return report;
}

}  // namespace inferometer::test
