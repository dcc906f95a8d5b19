#pragma once

// The most tokens emitted in any one second of simulated time, counted from whole second to whole second.
// Who uses it: the recorder, once a record of steps.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

class BusiestSecond {
 public:
  /// `in_order`: records come by the time of their steps, and one counter does. Otherwise, as from several
  /// replicas, each of which tells of a stretch at its end, every second up to the last token keeps a count:
  /// 8 bytes each.
  explicit BusiestSecond(bool in_order) : in_order_(in_order) {}

  /// `end`: that of the last step, which the caller knows already. O(seconds that the steps end in).
  void add(const StepRecord& steps, TimePoint end) {
    if (steps.stretch.start() >= start_ && end < end_) {
      add_to_open(steps.emitted * steps.stretch.steps());
    } else {
      add_by_second(steps);
    }
  }

  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  void add_to_open(std::int64_t tokens) {
    open_tokens_ += tokens;
    most_ = std::max(most_, open_tokens_);
  }
  // Not inlined, so that add is.
  [[gnu::noinline]] void add_by_second(const StepRecord& steps);
  void open(std::int64_t second);

  bool in_order_;
  TimePoint start_, end_;  // of the second whose tokens are being counted; empty before the first
  std::int64_t open_ = 0;  // its number
  std::int64_t open_tokens_ = 0;
  std::int64_t most_ = 0;
  std::vector<std::int64_t> tokens_;  // by second, but for the open one; empty when in order
};

}  // namespace inferometer
