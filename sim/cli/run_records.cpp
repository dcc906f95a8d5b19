#include "sim/cli/run_records.hpp"

#include <iostream>

#include "sim/cluster/coordinator.hpp"
#include "sim/report/activity_log.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/run/run_page.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

std::vector<WorkTotals> work_of_replicas(const Deployment& deployment) {
  std::vector<WorkTotals> work;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolSpec& pool = deployment.pools[i].spec;
    work.insert(work.end(), static_cast<std::size_t>(deployment.replicas(i)),
                WorkTotals(pool.model, pool.split()));
  }
  return work;
}

std::vector<ReplicaGpus> gpus_of_replicas(const Deployment& deployment) {
  std::vector<ReplicaGpus> gpus;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolSpec& pool = deployment.pools[i].spec;
    const ReplicaGpus its{.gpus = pool.gpus_per_replica(),
                          .stages = pool.pipeline_parallel,
                          .bandwidth = pool.gpu.hbm_bandwidth};
    gpus.insert(gpus.end(), static_cast<std::size_t>(deployment.replicas(i)), its);
  }
  return gpus;
}

}  // namespace

RunRecords::RunRecords(const RunRecordPaths& paths, const Deployment& deployment,
                       const MetricsRecorder& recorder) {
  if (!paths.activity.empty()) {
    activity_file_.emplace(paths.activity);
    activity_.emplace(work_of_replicas(deployment));
  }
  if (!paths.trace.empty()) {
    const TraceWindow window = paths.trace_window ? parse_trace_window(*paths.trace_window) : TraceWindow();
    trace_ = std::make_unique<TimelineWriter>(paths.trace, trace_replicas(deployment), window);
  }
  if (!paths.report.empty()) {
    report_file_.emplace(paths.report);
    charts_.emplace(recorder);
  }
}

std::vector<SimulationObserver*> RunRecords::observers() {
  std::vector<SimulationObserver*> all;
  if (activity_) {
    all.push_back(&*activity_);
  }
  if (trace_) {
    all.push_back(trace_.get());
  }
  if (charts_) {
    const std::vector<SimulationObserver*> of_charts = charts_->observers();
    all.insert(all.end(), of_charts.begin(), of_charts.end());
  }
  return all;
}

void RunRecords::watch(const Simulation& simulation) {
  if (trace_ && simulation.coordinator() != nullptr && simulation.coordinator()->network() != nullptr) {
    trace_->watch(*simulation.coordinator()->network());
  }
}

void RunRecords::finish(const Simulation& simulation, bool is_quiet) {
  if (!trace_) {
    return;
  }
  trace_->finish(simulation.now());
  if (trace_->events() > kManyTraceEvents && !is_quiet) {
    std::cerr << "the trace has " << grouped(trace_->events())
              << " events, which viewers take long to load; a part of the run is quicker to look at: "
                 "--trace-window '10 s..20 s'\n";
  }
}

void RunRecords::write(const Report& report, const Deployment& deployment, const MetricsRecorder& recorder) {
  if (activity_) {
    write_activity_log(*activity_, gpus_of_replicas(deployment), activity_file_->stream());
    activity_file_->commit();
  }
  if (charts_) {
    report_file_->write(html_text(run_page(report, charts_->charts(deployment, recorder))));
    report_file_->commit();
  }
}

}  // namespace inferometer
