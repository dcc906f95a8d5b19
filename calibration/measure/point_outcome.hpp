#pragma once

// What became of a point of a sweep, and how a record file says so: a skipped point's reason begins with its
// outcome. Who uses it: measure_point.hpp makes outcomes, record_journal.hpp reads them back.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "calibration/record/measurement.hpp"

namespace inferometer {

enum class PointOutcome {
  measured,
  wrong_result,  ///< its result is not that of the reference; never timed
  unsupported,   ///< there is no kernel for it on this GPU
  out_of_memory,
  throttled,          ///< the GPU did not come back to its clock
  device_lost,        ///< the GPU fell silent while it was measured
  device_lost_twice,  ///< and again when it was tried again
  interrupted         ///< stopped half-way; no record of it
};

std::span<const PointOutcome> point_outcomes();

/// "out of memory"
std::string_view to_string(PointOutcome outcome);

/// A point for the record; its reason is "out of memory: DETAIL".
SkippedPoint skipped_point(const KernelCall& call, PointOutcome outcome, std::string_view detail);

/// What a reason begins with; nothing for one that none of ours wrote.
std::optional<PointOutcome> outcome_of(std::string_view reason);

/// Whether a resumed run measures such a point once more: what kept it from being measured was the GPU's
/// state.
bool is_tried_again(PointOutcome outcome);

}  // namespace inferometer
