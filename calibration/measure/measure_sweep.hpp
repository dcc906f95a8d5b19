#pragma once

// A whole sweep on a device, into a journal. It can be stopped at any time, by anything, and goes on where it
// was when it is called again with the same plan and directory. Who uses it: `calibrate run`.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "calibration/measure/kernel_device.hpp"
#include "calibration/measure/loop_controls.hpp"
#include "calibration/measure/measure_point.hpp"
#include "calibration/measure/point_outcome.hpp"
#include "calibration/measure/record_journal.hpp"
#include "calibration/sweep/sweep_plan.hpp"

namespace inferometer {

/// What the device says of itself now, with its clock and temperature at the start, and in `method` how this
/// loop measures; the source, where it names none, is "calibrate run". Throws DeviceLost.
MeasurementHeader run_header(KernelDevice& device, const MeasureOptions& options);

struct SweepProgress {
  std::int64_t done = 0, in_all = 0;  ///< points of the plan; those that were there before count as done
  double elapsed_seconds = 0;         ///< of this run
  double left_seconds = 0;  ///< expected, at the pace so far; no more than what is left of the budget
  KernelFamily family = KernelFamily::gemm;  ///< of the point that comes next, or came last
};

struct SweepResult {
  enum class End {
    complete,    ///< the plan has no point left that was not tried
    stopped,     ///< by LoopControls::is_stopped
    budget,      ///< the plan's budget is used up
    device_lost  ///< `why` says by what
  };
  End end = End::complete;
  std::string why;
  std::map<PointOutcome, std::int64_t> counts;  ///< of the points that this run wrote a line for
  std::int64_t there_before = 0;                ///< points of the plan that had been measured or skipped
  std::int64_t not_tried = 0;                   ///< points of the plan that this run did not come to
  std::int64_t thrown_away = 0;                 ///< samples
  double elapsed_seconds = 0;
};

/// Measures the points of the plan in order, those left out that the journal has done. The plan's budget is
/// that of this run, and looked at before each point; 0: none. `report` is called before each point and at
/// the end. A device that is lost ends the run; the point it was at is tried again by the next run, and
/// skipped for good when the device is lost at it once more. Throws what the journal throws. Precondition: no
/// call is twice in the plan.
SweepResult measure_sweep(KernelDevice& device, const SweepPlan& plan, RecordJournal& journal,
                          const MeasureOptions& options, const LoopControls& controls,
                          const std::function<void(const SweepProgress&)>& report);

}  // namespace inferometer
