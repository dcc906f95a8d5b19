#pragma once

#include <cstdint>

#include "sim/batch/replica_view.hpp"
#include "sim/batch/step_plan.hpp"

namespace inferometer {

/// Finds how many sequences from the tail of the running list must give up their KV before the others' needs
/// fit: the outcome of walking the list head to tail, handing out blocks and preempting the last one whenever
/// none is left (vLLM, Sarathi-Serve). Walking from the tail gives the same victims in O(victims): the walk
/// preempts as many as needed for the total need of those that stay, and not one more.
///
/// `plan` holds the chunks of prefilling sequences in running order, and says whether all others decode.
/// Victims are appended to plan.preempted and their chunks removed. Returns the free blocks left when all
/// that stay are served.
std::int64_t preempt_from_tail(const ReplicaView& view, StepPlan& plan);

/// Blocks that a planned chunk of a prefilling sequence takes beyond what it holds.
std::int64_t chunk_blocks_needed(const ReplicaView& view, const StepPlan::Chunk& chunk);

}  // namespace inferometer
