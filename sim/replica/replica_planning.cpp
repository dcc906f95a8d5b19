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
      load_starts_.push_back(load_start(id));
    }
    const SequenceId computed = store.computed_in_need();
    if (computed == kNoSequence) {
      return;
    }
    for (const SequenceId other : store.load_at_others_expense(computed)) {
      if (std::erase_if(load_starts_, [&](const LoadStart& start) { return start.sequence == other; }) == 0) {
        taken_back_.push_back({store.sequence(other).request_id, other, 0});
      }
    }
    load_starts_.push_back(load_start(computed));
  }
}

LoadStart Replica::load_start(SequenceId id) const {
  const PrefixCache* prefixes = state_.blocks().prefixes();
  const std::int64_t cached = prefixes == nullptr ? 0 : prefixes->covered(id) * config_.block_size;
  return {state_.sequence(id).request_id, id, cached};
}

// A plan that only preempts leaves room for another, and for who was waiting for a seat: sequences whose KV
// has come may hold so many blocks that none of those that run finds one.
bool Replica::plan_something(TimePoint now) {
  while (true) {
    if (!state_.store().expected.empty() || !state_.store().ready.empty()) {
      take_in();
    }
    plan_.clear();
    if (state_.speculates()) {
      state_.prepare_drafts(tokens_to_draft());
    }
    booked_ = {};
    policy_->plan(view_of(now), plan_);
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
    if (!plan_.loads.empty()) {
      carry_out(now);
      return false;
    }
    if (plan_.preempted.empty()) {
      if (spare_a_load()) {
        continue;
      }
      return false;
    }
    const bool waits = spare_the_oldest();
    preempted_before_ += static_cast<std::int64_t>(plan_.preempted.size());
    swapped_before_ += static_cast<std::int64_t>(plan_.swapped_out.size());
    plan_.decode = false;
    carry_out(now);
    if (waits) {
      return false;
    }
  }
}

void Replica::reject_unrunnable(TimePoint now) {
  if (plan_.rejected.empty()) {
    return;
  }
  for (const SequenceId id : plan_.rejected) {
    const Sequence& sequence = state_.sequence(id);
    ++rejected_;
    departed_.push_back(sequence.request_id);
    observer_.on_rejected({sequence.request_id, sequence.arrival, now, sequence.prompt,
                           "the scheduler can never fit the prompt"});
    state_.reject(id);
  }
  std::sort(departed_.begin(), departed_.end());
}

// Micro-batches that share few blocks could each preempt the only sequence they run, and start it again, for
// ever. So the oldest of all keeps what it has as long as others run, until they have given it a block.
bool Replica::spare_the_oldest() {
  SequenceStore& store = state_.store();
  const SequenceId head = state_.head();
  if (state_.runs_starving()) {
    store.starving = kNoSequence;
  }
  if (!pipeline_ || booked_.preempted > 0 || store.running() == state_.running_count() ||
      !store.is_oldest(head) || std::erase(plan_.preempted, head) == 0) {
    return false;
  }
  store.starving = head;
  return true;
}

CachedPrefix Replica::find(const StepPlan& plan, SequenceId id) {
  INFEROMETER_CHECK(&plan == &plan_, "prefixes are looked up for the plan that is being made");
  book();
  if (state_.sequence(id).held_blocks > 0) {
    return {};  // it has come back from host memory, and its tokens are computed
  }
  CachedPrefix cached = state_.cached_prefix(id);
  cached.loadable_tokens = worth_loading(id, cached);
  return cached;
}

// Blocks change hands as the plan is made, once somebody asks what is cached: in the order in which an engine
// does it, so that whoever is admitted finds what those before leave, take and compute. Queues and lists
// change when the plan is complete.
void Replica::book() {
  for (; booked_.preempted < plan_.preempted.size(); ++booked_.preempted) {
    state_.drop_blocks(plan_.preempted[booked_.preempted]);
  }
  book_chunks(Sequence::State::prefilling);
  if (plan_.decode && !booked_.decode) {
    if (state_.speculates()) {
      state_.take_draft_blocks();
    } else {
      state_.take_blocks(BlockCount(decode_blocks_of_plan()));
    }
    booked_.decode = true;
  }
  for (std::size_t i = booked_.admitted; i < plan_.admitted.size(); ++i) {
    state_.hold_prefix(plan_.admitted[i]);
  }
  for (; booked_.admitted < plan_.admitted.size(); ++booked_.admitted) {
    state_.reserve_blocks(plan_.admitted[booked_.admitted]);
  }
  book_loads();
  book_chunks(Sequence::State::waiting);
}

/// Those that come next in the plan and whose sequences are in that state.
void Replica::book_chunks(Sequence::State state) {
  for (; booked_.chunks < plan_.chunks.size(); ++booked_.chunks) {
    const StepPlan::Chunk& chunk = plan_.chunks[booked_.chunks];
    if (state_.sequence(chunk.id).state != state) {
      return;
    }
    state_.take_chunk_blocks(chunk.id, chunk.tokens);
  }
}

std::int64_t Replica::decode_blocks_of_plan() const {
  const DecodeSet& decodes = state_.decodes();
  std::int64_t blocks = decodes.blocks_needed();
  const auto leave_out = [&](SequenceId id) {
    const Sequence& s = state_.sequence(id);
    blocks -= s.state == Sequence::State::decoding && decodes.needs_block(s) ? 1 : 0;
  };
  std::for_each(plan_.preempted.begin(), plan_.preempted.end(), leave_out);
  std::for_each(plan_.decode_except.begin(), plan_.decode_except.end(), leave_out);
  return blocks;
}

bool Replica::plan_runs_a_step() const {
  if (!plan_.chunks.empty()) {
    return true;
  }
  std::int64_t decodes = plan_.decode ? state_.decodes().count() : 0;
  decodes += static_cast<std::int64_t>(plan_.swapped_in.size());
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
