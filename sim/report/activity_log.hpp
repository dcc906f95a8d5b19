#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "base/units.hpp"
#include "sim/metrics/activity_recorder.hpp"

namespace inferometer {

/// The GPUs of a replica.
struct ReplicaGpus {
  std::int64_t gpus = 1;
  std::int64_t stages = 1;   ///< of its pipeline
  BytesPerSecond bandwidth;  ///< of the memory of one GPU
};

/// Writes what was recorded in the form of `dcgmi dmon -e 1002,1005`: a row a GPU and period, from the start
/// of the simulation to the last period in which any GPU worked; a header at the top and every so often;
/// shares of the period (SMACT) and of what the memory could have moved in it (DRAMA). The GPUs of a replica
/// have numbers in a row and say the same: in a pipeline, the mean of its stages. DRAMA stops at 1, as the
/// counter does: bytes that a cache keeps count as moved here. O(periods x GPUs), streamed. Precondition: one
/// element of `gpus` for each replica.
void write_activity_log(const ActivityRecorder& recorder, const std::vector<ReplicaGpus>& gpus,
                        std::ostream& out);

}  // namespace inferometer
