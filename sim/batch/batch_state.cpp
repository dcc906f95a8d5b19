#include "sim/batch/batch_state.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

BatchState::BatchState(BlockCount blocks, std::int64_t block_size,
                       std::optional<std::int64_t> attention_window, RunningOrder order)
    : pool_(blocks, block_size), decodes_(block_size, attention_window), order_(order) {
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
    return pool_.blocks_for(s.computed + decodes_.steps_of(s));
  }
  return s.held_blocks;
}

SequenceId BatchState::enqueue(const Request& request, std::int64_t output_limit) {
  SequenceId id = kNoSequence;
  if (vacant_.empty()) {
    id = static_cast<SequenceId>(sequences_.size());
    sequences_.emplace_back();
  } else {
    id = vacant_.back();
    vacant_.pop_back();
  }
  Sequence fresh;
  fresh.request_id = request.id;
  fresh.session = request.session;
  fresh.arrival = request.arrival;
  fresh.prompt = request.prompt.count();
  fresh.output = std::min(request.output.count(), output_limit);
  fresh.max_new = std::min(request.max_new.count(), output_limit);
  at(id) = fresh;
  waiting_.push_back(id);
  return id;
}

void BatchState::reject(SequenceId id) {
  take_from_queue(id);
  vacant_.push_back(id);
}

void BatchState::preempt(SequenceId id) {
  Sequence& s = at(id);
  if (s.state == Sequence::State::decoding) {
    leave_decodes(id);
  } else {
    INFEROMETER_CHECK(s.state == Sequence::State::prefilling, "only a running sequence can be preempted");
    remove_prefilling(id);
  }
  unlink(id);
  pool_.give_back(BlockCount(s.held_blocks));
  s.held_blocks = 0;
  s.computed = 0;
  ++s.preemptions;
  s.state = Sequence::State::waiting;
  waiting_.push_front(id);
}

void BatchState::admit(const StepPlan::Admission& admission, TimePoint now) {
  take_from_queue(admission.id);
  Sequence& s = at(admission.id);
  s.state = Sequence::State::prefilling;
  if (!s.was_admitted) {
    s.was_admitted = true;
    s.admitted = now;
  }
  link(admission.id);
  add_prefilling(admission.id);
  s.held_blocks = pool_.blocks_for(admission.reserve_tokens);
  pool_.take(BlockCount(s.held_blocks));
}

void BatchState::take_chunk_blocks(SequenceId id, std::int64_t tokens) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(
      s.state == Sequence::State::prefilling && tokens >= 1 && s.computed + tokens <= s.prompt + s.emitted,
      "a chunk is a part of a prefill");
  const std::int64_t needed = pool_.blocks_for(s.computed + tokens);
  if (needed > s.held_blocks) {
    pool_.take(BlockCount(needed - s.held_blocks));
    s.held_blocks = needed;
  }
}

void BatchState::suspend_decode(SequenceId id) {
  leave_decodes(id);
  ++suspended_;
}

void BatchState::resume_decode(SequenceId id) {
  decodes_.join(at(id), id);
  --suspended_;
}

BatchState::ChunkEnd BatchState::end_chunk(SequenceId id, std::int64_t tokens, TimePoint now) {
  Sequence& s = at(id);
  s.computed += tokens;
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
  s.last_emission = now;
  end.finished = s.emitted == s.output;
  if (!end.finished) {
    const std::int64_t final_blocks = pool_.blocks_for(s.prompt + s.output - 1);
    const std::int64_t present_blocks = pool_.blocks_for(s.computed);
    INFEROMETER_CHECK(s.held_blocks >= final_blocks || s.held_blocks == present_blocks,
                      "a reservation covers the prefill or the whole sequence");
    s.grows = s.held_blocks < final_blocks;
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
  pool_.give_back(BlockCount(s.held_blocks));
  vacant_.push_back(id);
  return {s.request_id, s.session, s.arrival, s.admitted,    s.first_token,
          now,          s.prompt,  s.output,  s.preemptions, s.max_new};
}

void BatchState::take_from_queue(SequenceId id) {
  if (!waiting_.empty() && waiting_.front() == id) {
    waiting_.pop_front();
    return;
  }
  const auto place = std::find(waiting_.begin(), waiting_.end(), id);
  INFEROMETER_CHECK(place != waiting_.end(), "only a waiting sequence can be admitted or rejected");
  waiting_.erase(place);
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
  decodes_.leave(at(id), id);
  at(id).held_blocks = held;
}

}  // namespace inferometer
