// What a replica does next: sequences whose KV comes from elsewhere are taken in, the policy is asked, and
// asked again when its plan was only to make room.

#include <algorithm>

#include "base/check.hpp"
#include "sim/replica/replica.hpp"

namespace inferometer {

// Sequences whose KV has come take seats first, unless there is no block for who runs already; then those
// that wait for blocks get them, as far as the next step of those that decode leaves some.
void Replica::take_in() {
  SequenceStore& store = state_.store();
  while (!store.ready.empty() && state_.running_count() < config_.max_num_seqs && !state_.runs_starving()) {
    state_.join(store.take_ready());
  }
  while (true) {
    while (!store.expected.empty() && store.can_load_next(state_.decodes().blocks_needed())) {
      const SequenceId id = store.load_next();
      load_starts_.push_back({store.sequence(id).request_id, id});
    }
    const SequenceId computed = store.computed_in_need();
    if (computed == kNoSequence) {
      return;
    }
    for (const SequenceId other : store.load_at_others_expense(computed)) {
      if (std::erase_if(load_starts_, [&](const LoadStart& start) { return start.sequence == other; }) == 0) {
        taken_back_.push_back({store.sequence(other).request_id, other});
      }
    }
    load_starts_.push_back({store.sequence(computed).request_id, computed});
  }
}

// A plan that only preempts leaves room for another, and for who was waiting for a seat: sequences whose KV
// has come may hold so many blocks that none of those that run finds one.
bool Replica::plan_something(TimePoint now) {
  while (true) {
    if (!state_.store().expected.empty() || !state_.store().ready.empty()) {
      take_in();
    }
    plan_.clear();
    state_.prepare_drafts();
    policy_->plan(ReplicaView(state_, now), plan_);
    gave_back_ = gave_back_ || !plan_.preempted.empty() || !plan_.rejected.empty();
    reject_unrunnable(now);
    if (plan_runs_a_step()) {
      if (state_.runs_starving()) {
        state_.store().starving = kNoSequence;
        gave_back_ = true;
      }
      return true;
    }
    INFEROMETER_CHECK(plan_.admitted.empty(), "a plan that admits runs a step");
    if (plan_.preempted.empty()) {
      return false;
    }
    const bool waits = spare_the_oldest();
    preempted_before_ += static_cast<std::int64_t>(plan_.preempted.size());
    plan_.decode = false;
    carry_out(now);
    if (waits) {
      return false;
    }
  }
}

// Micro-batches that share few blocks could each preempt the only sequence they run, and start it again, for
// ever. So the oldest of all keeps what it has as long as others run, until they have given it a block.
bool Replica::spare_the_oldest() {
  SequenceStore& store = state_.store();
  const SequenceId head = state_.head();
  if (state_.runs_starving()) {
    store.starving = kNoSequence;
  }
  if (!pipeline_ || store.running() == state_.running_count() || !store.is_oldest(head) ||
      std::erase(plan_.preempted, head) == 0) {
    return false;
  }
  store.starving = head;
  return true;
}

bool Replica::plan_runs_a_step() const {
  if (!plan_.chunks.empty()) {
    return true;
  }
  std::int64_t decodes = plan_.decode ? state_.decodes().count() : 0;
  for (const SequenceId id : plan_.preempted) {
    decodes -= state_.sequence(id).state == Sequence::State::decoding ? 1 : 0;
  }
  return decodes > 0;
}

// What holds blocks or seats here and is not run by this policy will give them back.
bool Replica::waits_for_others() const {
  const bool runs_nothing = state_.running_count() == 0;
  return (runs_nothing && state_.blocks().held() > BlockCount(0)) || state_.runs_starving();
}

}  // namespace inferometer
