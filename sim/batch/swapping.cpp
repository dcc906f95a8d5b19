// Sequences that wait with their KV in host memory.

#include <algorithm>

#include "base/check.hpp"
#include "sim/batch/batch_state.hpp"

namespace inferometer {

std::int64_t BatchState::swap_out(SequenceId id) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::decoding, "only a decoding sequence is swapped out");
  leave_decodes(id);
  unlink(id);
  s.held_blocks = 0;
  ++s.preemptions;
  s.state = Sequence::State::swapped;
  std::deque<SequenceId>& swapped = store_->swapped;
  swapped.insert(std::partition_point(swapped.begin(), swapped.end(),
                                      [&](SequenceId other) { return runs_before(other, id); }),
                 id);
  const std::int64_t blocks = store_->pool.blocks_for(s.computed);
  store_->swap_blocks_taken += blocks;
  INFEROMETER_CHECK(store_->swap_blocks_taken <= store_->swap_blocks, "what is swapped out has room");
  return blocks;
}

std::int64_t BatchState::swap_in(SequenceId id) {
  INFEROMETER_CHECK(!store_->swapped.empty() && store_->swapped.front() == id,
                    "sequences come back in order of arrival");
  store_->swapped.pop_front();
  Sequence& s = at(id);
  const std::int64_t blocks = store_->pool.blocks_for(s.computed);
  store_->swap_blocks_taken -= blocks;
  store_->pool.take(BlockCount(store_->pool.blocks_for(s.computed + 1)));
  start_decoding(id);
  return blocks;
}

}  // namespace inferometer
