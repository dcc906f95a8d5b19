#include "calibration/measure/measure_sweep.hpp"

#include <algorithm>

namespace inferometer {
namespace {

class Sweep {
 public:
  Sweep(KernelDevice& device, const SweepPlan& plan, RecordJournal& journal, const MeasureOptions& options,
        const LoopControls& controls, const std::function<void(const SweepProgress&)>& report)
      : device_(device),
        plan_(plan),
        journal_(journal),
        options_(options),
        controls_(controls),
        report_(report),
        begin_seconds_(controls.now_seconds()) {
    progress_.in_all = static_cast<std::int64_t>(plan.points.size());
    for (const SweepPoint& point : plan.points) {
      if (journal.is_done(point.call)) {
        ++result_.there_before;
      } else {
        expected_left_ += point.expected_seconds;
      }
    }
    progress_.done = result_.there_before;
  }

  SweepResult run() {
    try {
      // A device that is lost from the beginning is not the fault of the first point.
      static_cast<void>(device_.state());
      measure_all();
    } catch (const DeviceLost& lost) {
      result_.end = SweepResult::End::device_lost;
      result_.why = lost.what();
    }
    result_.not_tried = progress_.in_all - progress_.done;
    result_.elapsed_seconds = elapsed();
    report();
    return result_;
  }

 private:
  void measure_all() {
    for (const SweepPoint& point : plan_.points) {
      if (journal_.is_done(point.call)) {
        continue;
      }
      if (controls_.must_stop()) {
        result_.end = SweepResult::End::stopped;
        return;
      }
      if (plan_.budget_seconds > 0 && elapsed() >= plan_.budget_seconds) {
        result_.end = SweepResult::End::budget;
        return;
      }
      progress_.family = point.call.family;
      report();
      if (!measure(point)) {
        result_.end = SweepResult::End::stopped;
        return;
      }
    }
  }

  /// False when it was interrupted.
  bool measure(const SweepPoint& point) {
    PointResult result;
    try {
      result = measure_point(device_, point.call, options_, controls_);
    } catch (const DeviceLost& lost) {
      const bool once_more = journal_.outcome(point.call) == PointOutcome::device_lost;
      const PointOutcome outcome = once_more ? PointOutcome::device_lost_twice : PointOutcome::device_lost;
      journal_.append(skipped_point(point.call, outcome, lost.what()));
      count(point, outcome);
      throw;
    }
    result_.thrown_away += result.thrown_away;
    if (result.outcome == PointOutcome::interrupted) {
      return false;
    }
    if (result.outcome == PointOutcome::measured) {
      journal_.append(result.measured);
    } else {
      journal_.append(result.skipped);
    }
    count(point, result.outcome);
    return true;
  }

  void count(const SweepPoint& point, PointOutcome outcome) {
    ++result_.counts[outcome];
    ++progress_.done;
    expected_done_ += point.expected_seconds;
    expected_left_ -= point.expected_seconds;
  }

  void report() {
    progress_.elapsed_seconds = elapsed();
    const double pace = expected_done_ > 0 ? progress_.elapsed_seconds / expected_done_ : 1;
    progress_.left_seconds = std::max(0.0, pace * expected_left_);
    if (plan_.budget_seconds > 0) {
      progress_.left_seconds =
          std::min(progress_.left_seconds, std::max(0.0, plan_.budget_seconds - progress_.elapsed_seconds));
    }
    if (report_) {
      report_(progress_);
    }
  }

  [[nodiscard]] double elapsed() const { return controls_.now_seconds() - begin_seconds_; }

  KernelDevice& device_;
  const SweepPlan& plan_;
  RecordJournal& journal_;
  const MeasureOptions& options_;
  const LoopControls& controls_;
  const std::function<void(const SweepProgress&)>& report_;
  double begin_seconds_;
  SweepProgress progress_;
  SweepResult result_;
  double expected_done_ = 0, expected_left_ = 0;
};

}  // namespace

MeasurementHeader run_header(KernelDevice& device, const MeasureOptions& options) {
  MeasurementHeader header = device.header();
  const DeviceState now = device.state();
  header.temperature_c = now.temperature_c.value_or(header.temperature_c);
  header.sm_mhz_mean = now.sm_mhz.value_or(header.sm_mhz_mean);
  if (header.source.empty()) {
    header.source = "calibrate run";
  }
  header.method += (header.method.empty() ? "" : "; ") + to_string(options);
  return header;
}

SweepResult measure_sweep(KernelDevice& device, const SweepPlan& plan, RecordJournal& journal,
                          const MeasureOptions& options, const LoopControls& controls,
                          const std::function<void(const SweepProgress&)>& report) {
  return Sweep(device, plan, journal, options, controls, report).run();
}

}  // namespace inferometer
