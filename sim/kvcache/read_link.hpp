#pragma once

// A link over which one copy goes at a time, first come first served. A copy is known of before its blocks
// are there to be copied, and does not keep others from a link that is free until then.

#include <algorithm>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// Copies that are booked stay when they are, so that their ends can be told. O(copies that are to come).
class ReadLink {
 public:
  /// When a copy of this length could begin: not before `earliest`, and between those booked.
  [[nodiscard]] TimePoint start(TimePoint earliest, Duration length) const {
    TimePoint at = earliest;
    for (const Copy& copy : booked_) {
      if (at + length <= copy.from) {
        break;
      }
      at = std::max(at, copy.to);
    }
    return at;
  }
  /// Precondition: `from` is a start of that length. Copies that have ended by `now` are forgotten.
  void book(TimePoint from, Duration length, TimePoint now) {
    std::erase_if(booked_, [&](const Copy& copy) { return copy.to <= now; });
    const auto behind = std::find_if(booked_.begin(), booked_.end(),
                                     [&](const Copy& copy) { return copy.from >= from + length; });
    booked_.insert(behind, {from, from + length});
  }
  void clear() { booked_.clear(); }

 private:
  struct Copy {
    TimePoint from, to;
  };
  std::vector<Copy> booked_;  // by time
};

}  // namespace inferometer
