#pragma once

// KV blocks that the steps of a record hold, summed over time. Who uses it: the recorder, for the whole run;
// the timeline, bin by bin.

#include <cstdint>

#include "base/int128.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

/// held_integral() of a record with held rounds. O(steps of a round).
Int128 held_rounds_integral(const StepRecord& record, std::int64_t steps);

/// Blocks times picoseconds over the first `steps` steps of a record, exactly. Precondition: 0 <= steps <=
/// record.stretch.steps(). O(steps of a round).
inline Int128 held_integral(const StepRecord& record, std::int64_t steps) {
  return record.held_rounds.empty()
             ? Int128{record.held_blocks.count()} * record.stretch.time_of(steps).count()
             : held_rounds_integral(record, steps);
}

}  // namespace inferometer
