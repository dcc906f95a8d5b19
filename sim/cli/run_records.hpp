#pragma once

// What a run may be asked to record besides its results, each in a file of its own: activity of the GPUs, a
// trace for Perfetto, a report with charts.

#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "sim/metrics/activity_recorder.hpp"
#include "sim/report/report.hpp"
#include "sim/report/run/run_charts.hpp"
#include "sim/report/trace/timeline_writer.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

/// Paths of the files; "": not wanted.
struct RunRecordPaths {
  std::string activity, trace, report;
  std::optional<std::string> trace_window;
};

class RunRecords {
 public:
  /// Files are in place before the run, so that one that cannot be written stops it. `recorder` outlives
  /// this. Throws ConfigError.
  RunRecords(const RunRecordPaths& paths, const Deployment& deployment, const MetricsRecorder& recorder);

  /// Of the run, all of them.
  [[nodiscard]] std::vector<SimulationObserver*> observers();
  /// Called before the simulation runs.
  void watch(const Simulation& simulation);
  /// Called at its end, while it is still there.
  void finish(const Simulation& simulation, bool is_quiet);
  /// Writes what has to wait for the results.
  void write(const Report& report, const Deployment& deployment, const MetricsRecorder& recorder);

 private:
  std::optional<AtomicFile> activity_file_, report_file_;
  std::optional<ActivityRecorder> activity_;
  std::optional<RunChartRecorder> charts_;
  std::unique_ptr<TimelineWriter> trace_;
};

}  // namespace inferometer
