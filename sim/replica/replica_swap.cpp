// Preempted sequences that keep their KV in host memory, and what copying it costs. Semantics are those of
// vLLM V0 (core/scheduler.py, _swap_out and _swap_in; worker/worker.py, execute_worker): blocks are copied
// ahead of the model, on its stream.

#include <algorithm>

#include "base/check.hpp"
#include "sim/replica/replica.hpp"

namespace inferometer {

// Where blocks lose their sequences, they are copied before anything is written over them: the time counts
// from when the next step could have begun, whether one does or not.
void Replica::carry_out_preemptions(TimePoint now) {
  std::int64_t blocks = 0;
  auto swapped_out = plan_.swapped_out.begin();
  for (const SequenceId id : plan_.preempted) {
    if (swapped_out != plan_.swapped_out.end() && *swapped_out == id) {
      blocks += state_.swap_out(id);
      ++swapped_out;
    } else {
      state_.preempt(id);
    }
  }
  INFEROMETER_CHECK(swapped_out == plan_.swapped_out.end(), "who is swapped out is preempted");
  if (!config_.swap) {
    return;
  }
  swap_counts_.swapped_out += static_cast<std::int64_t>(plan_.swapped_out.size());
  swap_counts_.recomputed += static_cast<std::int64_t>(plan_.preempted.size() - plan_.swapped_out.size());
  swap_counts_.out_blocks += blocks;
  copy_swapped(blocks, now);
}

void Replica::swap_in_planned(TimePoint now) {
  if (plan_.swapped_in.empty()) {
    return;
  }
  INFEROMETER_CHECK(plan_.preempted.empty() && plan_.decode, "who comes back finds blocks, and decodes");
  std::int64_t blocks = 0;
  for (const SequenceId id : plan_.swapped_in) {
    blocks += state_.swap_in(id);
  }
  swap_counts_.swapped_in += static_cast<std::int64_t>(plan_.swapped_in.size());
  swap_counts_.in_blocks += blocks;
  copy_swapped(blocks, now);
}

void Replica::copy_swapped(std::int64_t blocks, TimePoint now) {
  if (blocks > 0) {
    const Duration time = config_.swap->block_copy * blocks;
    copied_at_ = std::max(copied_at_, now) + time;
    swap_counts_.copying += time;
  }
}

}  // namespace inferometer
