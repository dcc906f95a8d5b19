#include "sim/batch/step_calendar.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kBits = 64;

std::uint64_t bits_from(std::size_t first) {
  return ~std::uint64_t{0} << first;
}

std::size_t lowest(std::uint64_t bits) {
  return static_cast<std::size_t>(std::countr_zero(bits));
}

}  // namespace

std::size_t StepCalendar::first_bit_from(std::size_t from) const {
  const std::size_t word = from / kBits;
  if (const std::uint64_t rest = words_[word] & bits_from(from % kBits); rest != 0) {
    return word * kBits + lowest(rest);
  }
  // Around the wheel once; the word it began in comes last, with its lower bits.
  std::size_t group = (word + 1) / kBits % words_in_use_.size();
  std::uint64_t in_use = words_in_use_[group] & bits_from((word + 1) % kBits);
  while (in_use == 0) {
    group = (group + 1) % words_in_use_.size();
    in_use = words_in_use_[group];
  }
  const std::size_t next = group * kBits + lowest(in_use);
  return next * kBits + lowest(words_[next]);
}

void StepCalendar::grow(std::int64_t reach, std::int64_t now) {
  std::vector<SequenceId> members;
  for (std::int64_t step = now; step < now + size(); ++step) {
    for (SequenceId id = heads_[place_of(step)]; id != kNoSequence; id = at(id).next) {
      members.push_back(id);
    }
  }
  resize(std::bit_ceil(static_cast<std::size_t>(std::min(reach + 1, kMostSteps))));
  for (const SequenceId id : members) {
    put(id, at(id).step, now);
  }
}

void StepCalendar::resize(std::size_t steps) {
  heads_.assign(steps, kNoSequence);
  words_.assign(steps / kBits, 0);
  words_in_use_.assign((steps / kBits + kBits - 1) / kBits, 0);
  mask_ = steps - 1;
}

}  // namespace inferometer
