#include "sim/batch/decode_set.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

DecodeSet::DecodeSet(std::int64_t block_size, std::optional<std::int64_t> window)
    : block_size_(block_size), window_(window), phases_(static_cast<std::size_t>(block_size), 0) {
}

ContextTokens DecodeSet::attended(std::int64_t computed) const {
  return {computed + 1, window_ ? std::min(computed + 1, *window_) : 0};
}

std::size_t DecodeSet::phase_of(std::int64_t computed) const {
  return static_cast<std::size_t>(block_size_.remainder(computed + next_phase_));
}

bool DecodeSet::needs_block(const Sequence& sequence) const {
  return sequence.grows && block_size_.remainder(sequence.computed + steps_of(sequence)) == 0;
}

void DecodeSet::join(Sequence& sequence, SequenceId id) {
  sequence.join_step = step_;
  ++count_;
  const ContextTokens attention = attended(sequence.computed);
  context_ += attention;
  if (sequence.grows) {
    ++growing_;
    ++phases_[phase_of(sequence.computed)];
  }
  finishes_.add(id, step_ + sequence.output - sequence.emitted, step_);
  if (window_ && attention.windowed < *window_) {
    ++unsaturated_;
    saturations_.add(id, step_ + *window_ - attention.windowed, step_);
  }
  if (sequence.emitted == 0) {
    ++first_timers_;
  } else if (!joiners_.empty() && joiners_.back().emitted == sequence.last_emission) {
    ++joiners_.back().count;
  } else {
    joiners_.push_back({sequence.last_emission, 1});
  }
}

void DecodeSet::leave(Sequence& sequence, SequenceId id) {
  const std::int64_t steps = steps_of(sequence);
  if (sequence.grows) {
    --growing_;
    --phases_[phase_of(sequence.computed + steps)];
  }
  if (steps > 0) {
    --veterans_;
    sequence.last_emission = last_step_end_;
  } else if (sequence.emitted == 0) {
    --first_timers_;
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
  const ContextTokens attention = attended(sequence.computed);
  context_ -= attention;
  if (window_ && attention.windowed < *window_) {
    --unsaturated_;
    saturations_.remove(id);
  }
  if (sequence.emitted < sequence.output) {
    finishes_.remove(id);
  }
}

void DecodeSet::advance(TimePoint first_end, TimePoint last_end, std::int64_t steps) {
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
  first_timers_ = 0;
  veterans_ = count_;
  last_step_end_ = last_end;
  step_ += steps;
  next_phase_ = static_cast<std::int64_t>(phase_needed_at(steps));
  context_ += context_growth() * steps;
  saturate_due();
}

void DecodeSet::emit_more(Sequence& sequence, SequenceId id, std::int64_t tokens) {
  INFEROMETER_CHECK(!sequence.grows, "whose blocks are counted elsewhere");
  const ContextTokens before = attended(sequence.computed + steps_of(sequence));
  finishes_.remove(id);
  sequence.computed += tokens;
  sequence.emitted += tokens;
  finishes_.add(id, sequence.join_step + sequence.output - sequence.emitted, step_);
  const ContextTokens after = attended(sequence.computed + steps_of(sequence));
  context_ += after;
  context_ -= before;
  if (window_ && before.windowed < *window_) {
    saturations_.remove(id);
    if (after.windowed < *window_) {
      saturations_.add(id, step_ + *window_ - after.windowed, step_);
    } else {
      --unsaturated_;
    }
  }
}

void DecodeSet::saturate_due() {
  while (!saturations_.empty() && saturations_.take(step_) != kNoSequence) {
    --unsaturated_;
  }
}

}  // namespace inferometer
