#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/batch/sequence.hpp"

namespace inferometer {

/// Who is due after which step, for steps that pass one after the other. A wheel with a list for every step
/// to come and a bit for every list that has somebody: adding, removing and taking cost O(1), finding the
/// next step with somebody due O(1 + (steps to it) / 4096). The wheel grows to the farthest step asked for,
/// up to a million; who is due later stands in its last list and is put further on when that step comes.
/// Memory is 4 bytes a step of the wheel, and 24 for each slot of a sequence.
class StepCalendar {
 public:
  StepCalendar() { resize(kFirstSteps); }

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Precondition: step >= now, and all who are due before now have been taken; `id` is not in the calendar.
  void add(SequenceId id, std::int64_t step, std::int64_t now) {
    if (step - now >= size() && size() < kMostSteps) {
      grow(step - now, now);
    }
    if (static_cast<std::size_t>(id) >= entries_.size()) {
      entries_.resize(static_cast<std::size_t>(id) + 1);
    }
    put(id, step, now);
    ++count_;
  }

  /// Precondition: `id` is in the calendar.
  void remove(SequenceId id) {
    const Entry entry = at(id);
    if (entry.next != kNoSequence) {
      at(entry.next).previous = entry.previous;
    }
    if (entry.previous != kNoSequence) {
      at(entry.previous).next = entry.next;
    } else {
      heads_[entry.place] = entry.next;
      if (entry.next == kNoSequence) {
        clear_bit(entry.place);
      }
    }
    --count_;
  }

  /// The first step, `now` or later, after which somebody is due, or an earlier one at which take() is to be
  /// asked because all are due more than a million steps ahead. Precondition: not empty, nobody due before
  /// `now`.
  [[nodiscard]] std::int64_t next(std::int64_t now) const {
    const std::size_t from = place_of(now);
    const std::size_t found = first_bit_from(from);
    return now + static_cast<std::int64_t>((found - from) & mask_);
  }

  /// Takes out somebody who is due after `step`; kNoSequence when nobody is.
  SequenceId take(std::int64_t step) {
    for (SequenceId id = heads_[place_of(step)]; id != kNoSequence; id = heads_[place_of(step)]) {
      remove(id);
      if (at(id).step == step) {
        return id;
      }
      put(id, at(id).step, step);
      ++count_;
    }
    return kNoSequence;
  }

 private:
  static constexpr std::size_t kFirstSteps = 1024;
  static constexpr std::int64_t kMostSteps = std::int64_t{1} << 20;
  static constexpr std::size_t kWordBits = 64;

  struct Entry {
    std::int64_t step = 0;
    std::size_t place = 0;  // of its list
    SequenceId previous = kNoSequence;
    SequenceId next = kNoSequence;
  };

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(heads_.size()); }
  [[nodiscard]] std::size_t place_of(std::int64_t step) const {
    return static_cast<std::size_t>(step) & mask_;
  }
  Entry& at(SequenceId id) { return entries_[static_cast<std::size_t>(id)]; }

  void put(SequenceId id, std::int64_t step, std::int64_t now) {
    const std::size_t place = place_of(std::min(step, now + size() - 1));
    const SequenceId second = heads_[place];
    at(id) = {step, place, kNoSequence, second};
    if (second != kNoSequence) {
      at(second).previous = id;
    }
    heads_[place] = id;
    words_[place / kWordBits] |= std::uint64_t{1} << place % kWordBits;
    words_in_use_[place / kWordBits / kWordBits] |= std::uint64_t{1} << place / kWordBits % kWordBits;
  }

  void clear_bit(std::size_t place) {
    std::uint64_t& word = words_[place / kWordBits];
    word &= ~(std::uint64_t{1} << place % kWordBits);
    if (word == 0) {
      words_in_use_[place / kWordBits / kWordBits] &= ~(std::uint64_t{1} << place / kWordBits % kWordBits);
    }
  }

  /// Precondition: some bit is set.
  [[nodiscard]] std::size_t first_bit_from(std::size_t from) const;
  void grow(std::int64_t reach, std::int64_t now);
  void resize(std::size_t steps);

  std::vector<SequenceId> heads_;            // by place: step modulo their number, a power of two
  std::vector<std::uint64_t> words_;         // a bit for each place whose list is not empty
  std::vector<std::uint64_t> words_in_use_;  // a bit for each word that is not 0
  std::vector<Entry> entries_;               // by slot
  std::size_t mask_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace inferometer
