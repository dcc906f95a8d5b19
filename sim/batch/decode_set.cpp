#include "sim/batch/decode_set.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/check.hpp"

namespace inferometer {
namespace {

template <class Entry>
void drop_first(std::vector<Entry>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  heap.pop_back();
}

}  // namespace

DecodeSet::DecodeSet(std::int64_t block_size, std::optional<std::int64_t> window)
    : block_size_(block_size), window_(window), phases_(static_cast<std::size_t>(block_size), 0) {
}

std::int64_t DecodeSet::attended(std::int64_t computed) const {
  return window_ ? std::min(computed + 1, *window_) : computed + 1;
}

std::size_t DecodeSet::phase_of(std::int64_t computed) const {
  return static_cast<std::size_t>(block_size_.remainder(computed + next_phase_));
}

bool DecodeSet::needs_block(const Sequence& sequence) const {
  return sequence.grows && block_size_.remainder(sequence.computed + steps_of(sequence)) == 0;
}

void DecodeSet::join(Sequence& sequence, SequenceId id) {
  sequence.join_step = step_;
  sequence.join_serial = ++serial_;
  ++count_;
  const std::int64_t attention = attended(sequence.computed);
  context_ += attention;
  if (sequence.grows) {
    ++growing_;
    ++phases_[phase_of(sequence.computed)];
  }
  finishes_.push_back({finish_step(sequence), id});
  std::push_heap(finishes_.begin(), finishes_.end(), std::greater<>());
  if (!window_) {
    ++unsaturated_;
  } else if (attention < *window_) {
    ++unsaturated_;
    saturations_.push_back({step_ + *window_ - attention, serial_, id});
    std::push_heap(saturations_.begin(), saturations_.end(), std::greater<>());
  }
  if (!joiners_.empty() && joiners_.back().emitted == sequence.last_emission) {
    ++joiners_.back().count;
  } else {
    joiners_.push_back({sequence.last_emission, 1});
  }
}

void DecodeSet::leave(Sequence& sequence) {
  const std::int64_t steps = steps_of(sequence);
  if (sequence.grows) {
    --growing_;
    --phases_[phase_of(sequence.computed + steps)];
  }
  if (steps > 0) {
    --veterans_;
    sequence.last_emission = last_step_end_;
  } else {
    const auto group = std::find_if(joiners_.begin(), joiners_.end(), [&](const Joiners& joiners) {
      return joiners.emitted == sequence.last_emission && joiners.count > 0;
    });
    INFEROMETER_CHECK(group != joiners_.end(), "a member is either a veteran or a joiner");
    --group->count;
  }
  sequence.computed += steps;
  sequence.emitted += steps;
  --count_;
  const std::int64_t attention = attended(sequence.computed);
  context_ -= attention;
  if (!window_ || attention < *window_) {
    --unsaturated_;
  }
}

void DecodeSet::advance(TimePoint first_end, TimePoint last_end, std::int64_t steps,
                        std::span<const Sequence> sequences) {
  gaps_.clear();
  if (veterans_ > 0) {
    gaps_.push_back({first_end - last_step_end_, veterans_});
  }
  for (const Joiners& joiners : joiners_) {
    if (joiners.count > 0) {
      gaps_.push_back({first_end - joiners.emitted, joiners.count});
    }
  }
  joiners_.clear();
  veterans_ = count_;
  last_step_end_ = last_end;
  step_ += steps;
  next_phase_ = static_cast<std::int64_t>(phase_needed_at(steps));
  context_ += unsaturated_ * steps;
  saturate_due(sequences);
}

std::int64_t DecodeSet::steps_to_next_finish(std::span<const Sequence> sequences) {
  while (!in_force(finishes_.front(), sequences)) {
    drop_first(finishes_);
  }
  return finishes_.front().step - step_;
}

std::int64_t DecodeSet::steps_of_same_growth(std::span<const Sequence> sequences) {
  while (!saturations_.empty() && !in_force(saturations_.front(), sequences)) {
    drop_first(saturations_);
  }
  return saturations_.empty() ? std::numeric_limits<std::int64_t>::max() : saturations_.front().step - step_;
}

std::int64_t DecodeSet::finish_step(const Sequence& member) {
  return member.join_step + member.output - member.emitted;
}

bool DecodeSet::in_force(const Finish& finish, std::span<const Sequence> sequences) {
  const Sequence& sequence = sequences[static_cast<std::size_t>(finish.id)];
  return sequence.state == Sequence::State::decoding && finish_step(sequence) == finish.step;
}

bool DecodeSet::in_force(const Saturation& saturation, std::span<const Sequence> sequences) {
  const Sequence& sequence = sequences[static_cast<std::size_t>(saturation.id)];
  return sequence.state == Sequence::State::decoding && sequence.join_serial == saturation.serial;
}

void DecodeSet::saturate_due(std::span<const Sequence> sequences) {
  while (!saturations_.empty() && saturations_.front().step <= step_) {
    // A member that left early has taken itself off already.
    if (in_force(saturations_.front(), sequences)) {
      --unsaturated_;
    }
    drop_first(saturations_);
  }
}

SequenceId DecodeSet::next_finished(std::span<const Sequence> sequences) {
  while (!finishes_.empty() && finishes_.front().step <= step_) {
    const Finish due = finishes_.front();
    drop_first(finishes_);
    if (in_force(due, sequences)) {
      return due.id;
    }
  }
  return kNoSequence;
}

}  // namespace inferometer
