#include "sim/batch/batch_state.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

BatchState::BatchState(std::shared_ptr<SequenceStore> store, std::optional<std::int64_t> attention_window,
                       RunningOrder order)
    : store_(std::move(store)),
      attention_window_(attention_window),
      decodes_(store_->pool.block_size(), attention_window),
      order_(order) {
}

std::int64_t BatchState::computed(SequenceId id) const {
  const Sequence& s = sequence(id);
  return s.state == Sequence::State::decoding ? s.computed + decodes_.steps_of(s) : s.computed;
}

std::int64_t BatchState::emitted(SequenceId id) const {
  const Sequence& s = sequence(id);
  return s.state == Sequence::State::decoding ? s.emitted + decodes_.steps_of(s) : s.emitted;
}

std::int64_t BatchState::held_blocks(SequenceId id) const {
  const Sequence& s = sequence(id);
  if (s.state == Sequence::State::decoding && s.grows) {
    return store_->pool.blocks_for(s.computed + decodes_.steps_of(s));
  }
  return s.held_blocks;
}

std::int64_t BatchState::exclusive_blocks(SequenceId id, std::span<const SequenceId> leaving) const {
  const PrefixCache* prefixes = blocks().prefixes();
  const std::int64_t held = held_blocks(id);
  return prefixes == nullptr ? held : prefixes->exclusive(id, held, leaving);
}

CachedPrefix BatchState::cached_prefix(SequenceId id) {
  PrefixMatch match = store_->pool.prefixes()->match(id, tokens(id));
  if (drafting_ && drafting_->rule.recomputes_last_hit && match.blocks > 0) {
    --match.blocks;
    match.idle -= match.last_is_idle ? 1 : 0;
  }
  return {match.blocks * blocks().block_size(), match.idle};
}

void BatchState::reject(SequenceId id) {
  const Sequence& s = sequence(id);
  store_->prefill_left -= s.prompt + s.emitted;
  store_->tokens -= s.prompt + s.emitted;
  store_->take_from_queue(id);
  store_->vacate(id);
}

void BatchState::drop_blocks(SequenceId id) {
  const std::int64_t held = held_blocks(id);
  at(id).held_blocks = held;
  store_->give_up_blocks(id, computed(id), true);
}

void BatchState::preempt(SequenceId id) {
  Sequence& s = at(id);
  if (s.state == Sequence::State::decoding) {
    leave_decodes(id);
  } else {
    INFEROMETER_CHECK(s.state == Sequence::State::prefilling, "only a running sequence can be preempted");
    remove_prefilling(id);
  }
  const bool was_decoding = s.state == Sequence::State::decoding;
  unlink(id);
  store_->prefill_left += was_decoding ? s.prompt + s.emitted : s.computed;
  s.held_blocks = 0;
  s.computed = 0;
  ++s.preemptions;
  s.state = Sequence::State::waiting;
  store_->queue_again(id);
}

void BatchState::hold_prefix(const StepPlan::Admission& admission) {
  if (admission.cached_tokens == 0) {
    return;
  }
  Sequence& s = at(admission.id);
  BlockPool& pool = store_->pool;
  const std::int64_t idle = pool.prefixes()->idle_cached();
  s.held_blocks = pool.blocks_for(admission.cached_tokens);
  const PrefixSources found = pool.prefixes()->hold(admission.id, s.held_blocks);
  (s.was_admitted ? s.recached : s.cached) = (s.was_admitted ? s.recached : s.cached) + found;
  pool.remove_free(BlockCount(idle - pool.prefixes()->idle_cached()));
  s.computed = admission.cached_tokens;
  store_->prefill_left -= s.computed;
}

void BatchState::reserve_blocks(const StepPlan::Admission& admission) {
  Sequence& s = at(admission.id);
  const std::int64_t reserved = store_->pool.blocks_for(admission.reserve_tokens);
  if (reserved > s.held_blocks) {
    store_->pool.take(BlockCount(reserved - s.held_blocks));
    s.held_blocks = reserved;
  }
}

void BatchState::admit(SequenceId id, TimePoint now) {
  store_->take_from_queue(id);
  Sequence& s = at(id);
  s.state = Sequence::State::prefilling;
  if (!s.was_admitted) {
    s.was_admitted = true;
    s.admitted = now;
  }
  link(id);
  add_prefilling(id);
}

void BatchState::join(SequenceId id) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::ready, "only a ready sequence joins those that decode");
  start_decoding(id);
}

void BatchState::start_decoding(SequenceId id) {
  Sequence& s = at(id);
  s.state = Sequence::State::decoding;
  s.grows = !speculates();
  link(id);
  decodes_.join(s, id);
  if (s.emitted == 0) {
    first_timers_.push_back(id);
  }
}

void BatchState::take_chunk_blocks(SequenceId id, std::int64_t tokens) {
  Sequence& s = at(id);
  const bool prefills = s.state == Sequence::State::prefilling || s.state == Sequence::State::waiting;
  INFEROMETER_CHECK(prefills && tokens >= 1 && s.computed + tokens <= s.prompt + s.emitted,
                    "a chunk is a part of a prefill");
  const std::int64_t needed = blocks_with_lookahead(s.computed + tokens);
  if (needed > s.held_blocks) {
    store_->pool.take(BlockCount(needed - s.held_blocks));
    s.held_blocks = needed;
  }
  if (PrefixCache* prefixes = store_->pool.prefixes()) {
    prefixes->cover(id, s.computed + tokens);
  }
}

void BatchState::suspend_decode(SequenceId id) {
  leave_decodes(id);
  at(id).join_step = decodes_.steps();  // it does not go on with those that decode
  ++suspended_;
}

void BatchState::resume_decode(SequenceId id) {
  decodes_.join(at(id), id);
  if (sequence(id).emitted == 0) {
    first_timers_.push_back(id);
  }
  --suspended_;
}

void BatchState::advance_decodes(TimePoint first_end, TimePoint last_end, std::int64_t steps) {
  for (const SequenceId id : first_timers_) {
    at(id).first_token = first_end;
  }
  first_timers_.clear();
  store_->tokens += decodes_.count() * steps;
  decodes_.advance(first_end, last_end, steps);
}

BatchState::ChunkEnd BatchState::end_chunk(SequenceId id, std::int64_t tokens, TimePoint now) {
  Sequence& s = at(id);
  s.computed += tokens;
  store_->prefill_left -= tokens;
  ChunkEnd end;
  if (s.computed < s.prompt + s.emitted) {
    return end;
  }
  end.emitted = true;
  if (s.emitted == 0) {
    s.first_token = now;
  } else {
    end.gap = now - s.last_emission;
  }
  ++s.emitted;
  ++store_->tokens;
  s.last_emission = now;
  end.finished = s.emitted == s.output;
  if (!end.finished) {
    const std::int64_t final_blocks = store_->pool.blocks_for(s.prompt + s.output - 1);
    const std::int64_t present_blocks = store_->pool.blocks_for(s.computed);
    INFEROMETER_CHECK(s.held_blocks >= final_blocks || s.held_blocks == present_blocks || speculates(),
                      "a reservation covers the prefill or the whole sequence");
    s.grows = s.held_blocks < final_blocks && !speculates();
    remove_prefilling(id);
    s.state = Sequence::State::decoding;
    decodes_.join(s, id);
  }
  return end;
}

FinishedRequest BatchState::finish(SequenceId id, TimePoint now) {
  if (sequence(id).state == Sequence::State::decoding) {
    leave_decodes(id);
  } else {
    remove_prefilling(id);
  }
  const Sequence s = sequence(id);
  INFEROMETER_CHECK(s.emitted == s.output, "a finished sequence has emitted all its tokens");
  unlink(id);
  store_->give_up_blocks(id, s.computed, false);
  store_->tokens -= s.prompt + s.emitted;
  store_->vacate(id);
  return {.id = s.request_id,
          .session = s.session,
          .arrival = s.arrival,
          .admitted = s.admitted,
          .first_token = s.first_token,
          .finished = now,
          .prompt = s.prompt,
          .output = s.output,
          .preemptions = s.preemptions,
          .max_new = s.max_new,
          .replica = 0,
          .prefill_replica = s.prefill_replica,
          .retries = s.retries,
          .handover = s.handover,
          .prefill_end = s.prefill_end,
          .priority = s.priority,
          .cached = s.cached,
          .recached = s.recached};
}

void BatchState::hand_over(SequenceId id) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::prefilling && s.emitted == 1,
                    "a prompt is handed over when it has its first token");
  remove_prefilling(id);
  unlink(id);
  store_->tokens -= s.prompt + s.emitted;
  s.state = Sequence::State::handed_over;
  ++store_->handed_over;
}

void BatchState::stop_running() {
  for (SequenceId id = head_; id != kNoSequence; id = sequence(id).next) {
    if (sequence(id).state == Sequence::State::decoding) {
      leave_decodes(id);
    }
  }
  decodes_ = DecodeSet(store_->pool.block_size(), attention_window_);
  prefilling_.clear();
  first_timers_.clear();
  if (drafting_) {
    drafting_->estimate = {};
  }
  suspended_ = 0;
  head_ = kNoSequence;
  tail_ = kNoSequence;
}

bool BatchState::runs_before(SequenceId a, SequenceId b) const {
  return sequence(a).request_id < sequence(b).request_id;
}

void BatchState::link(SequenceId id) {
  SequenceId after = tail_;
  if (order_ == RunningOrder::arrival) {
    while (after != kNoSequence && runs_before(id, after)) {
      after = sequence(after).previous;
    }
  }
  Sequence& s = at(id);
  s.previous = after;
  s.next = after == kNoSequence ? head_ : sequence(after).next;
  (after == kNoSequence ? head_ : at(after).next) = id;
  (s.next == kNoSequence ? tail_ : at(s.next).previous) = id;
}

void BatchState::unlink(SequenceId id) {
  const Sequence& s = sequence(id);
  (s.previous == kNoSequence ? head_ : at(s.previous).next) = s.next;
  (s.next == kNoSequence ? tail_ : at(s.next).previous) = s.previous;
}

void BatchState::add_prefilling(SequenceId id) {
  if (order_ == RunningOrder::admission) {
    prefilling_.push_back(id);
    return;
  }
  const auto place = std::find_if(prefilling_.begin(), prefilling_.end(),
                                  [&](SequenceId other) { return runs_before(id, other); });
  prefilling_.insert(place, id);
}

void BatchState::remove_prefilling(SequenceId id) {
  const auto place = std::find(prefilling_.begin(), prefilling_.end(), id);
  INFEROMETER_CHECK(place != prefilling_.end(), "a prefilling sequence is in the list of them");
  prefilling_.erase(place);
}

void BatchState::leave_decodes(SequenceId id) {
  const std::int64_t held = held_blocks(id);
  std::erase(first_timers_, id);
  decodes_.leave(at(id), id);
  at(id).held_blocks = held;
}

}  // namespace inferometer
