#pragma once

#include <cstdint>
#include <iosfwd>

#include "base/units.hpp"
#include "sim/metrics/activity_recorder.hpp"

namespace inferometer {

/// Writes what was recorded in the form of `dcgmi dmon -e 1002,1005`: a row a GPU and period, from the start
/// of the simulation to the last period in which any GPU worked; a header at the top and every so often;
/// shares of the period (SMACT) and of what the memory could have moved in it (DRAMA). The GPUs of a replica,
/// so many each, have numbers in a row and say the same. DRAMA stops at 1, as the counter does: bytes that a
/// cache keeps count as moved here. O(periods x GPUs), streamed.
void write_activity_log(const ActivityRecorder& recorder, std::int64_t gpus_per_replica,
                        BytesPerSecond bandwidth, std::ostream& out);

}  // namespace inferometer
