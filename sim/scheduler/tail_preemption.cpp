#include "sim/scheduler/tail_preemption.hpp"

#include <algorithm>

namespace inferometer {

std::int64_t chunk_blocks_needed(const ReplicaView& view, const StepPlan::Chunk& chunk) {
  const std::int64_t end = view.computed(chunk.id) + chunk.tokens;
  return std::max<std::int64_t>(0, view.blocks_for(end) - view.held_blocks(chunk.id));
}

std::int64_t preempt_from_tail(const ReplicaView& view, StepPlan& plan) {
  std::int64_t needed = plan.decode ? view.decode_blocks_needed() : 0;
  for (const StepPlan::Chunk& chunk : plan.chunks) {
    needed += chunk_blocks_needed(view, chunk);
  }
  std::int64_t free = view.free_blocks();
  for (SequenceId victim = view.running_tail(); needed > free; victim = view.sequence(victim).previous) {
    if (view.is_decoding(victim)) {
      needed -= view.needs_block(victim) ? 1 : 0;
    } else if (!plan.chunks.empty() && plan.chunks.back().id == victim) {
      needed -= chunk_blocks_needed(view, plan.chunks.back());
      plan.chunks.pop_back();
    }
    free += view.blocks_freed_by(plan, victim);
    plan.preempted.push_back(victim);
  }
  return free - needed;
}

}  // namespace inferometer
