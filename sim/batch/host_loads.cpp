// Sequences whose KV comes back from host memory, or a disk behind it, before they run.

#include <algorithm>

#include "base/check.hpp"
#include "sim/batch/batch_state.hpp"

namespace inferometer {
namespace {

PrefixSources& sources_of(Sequence& s) {
  return s.was_admitted ? s.recached : s.cached;
}

}  // namespace

void BatchState::take_blocks_to_load(const StepPlan::Admission& load) {
  at(load.id).before_load = sources_of(at(load.id));
  hold_prefix(load);
  reserve_blocks(load);
}

void BatchState::begin_load(SequenceId id) {
  store_->take_from_queue(id);
  at(id).state = Sequence::State::loading;
}

void BatchState::end_load(SequenceId id, const PrefixSources& found) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::loading, "KV comes to blocks that wait for it");
  const std::int64_t tokens = found.total();
  s.computed += tokens;
  sources_of(s) = sources_of(s) + found;
  store_->prefill_left -= tokens;
  store_->pool.prefixes()->cover(id, s.computed);
  s.state = Sequence::State::waiting;
  store_->queue_again(id);
}

bool BatchState::give_up_a_load() {
  const auto last = std::find_if(waiting().rbegin(), waiting().rend(),
                                 [this](SequenceId id) { return sequence(id).held_blocks > 0; });
  if (last == waiting().rend()) {
    return false;
  }
  Sequence& s = at(*last);
  store_->give_up_blocks(*last, s.computed, true);
  store_->prefill_left += s.computed;
  s.computed = 0;
  sources_of(s) = s.before_load;
  return true;
}

}  // namespace inferometer
