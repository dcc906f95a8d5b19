#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// What can happen, in the order in which things of one instant happen: steps end first, then transfers, so
/// that an arrival at that very moment finds their effect; then what befalls the cluster; then requests
/// arrive; then free replicas decide, knowing all that.
enum class EventKind : std::uint32_t {
  step_end = 0,  ///< target: lane
  load_end = 1,  ///< KV has come back from host memory; target: lane
  transfer = 2,  ///< target: 0
  timer = 3,     ///< target: timer
  arrival = 4,   ///< target: 0
  schedule = 5,  ///< target: lane
};

/// Ordered by time, then kind, then target. Equal ones may be pending (a step end, and one that an arrival
/// has made meaningless): either may come first. Two words, so that events travel in registers.
struct Event {
  std::int64_t time_ps = 0;
  std::uint64_t order = 0;  ///< kind << 56 | target

  static Event at(TimePoint time, EventKind kind, std::uint32_t target) {
    return {time.since_start().count(), static_cast<std::uint64_t>(kind) << kKindShift | target};
  }
  [[nodiscard]] TimePoint time() const { return TimePoint(Duration(time_ps)); }
  [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(order >> kKindShift); }
  [[nodiscard]] std::uint32_t target() const { return static_cast<std::uint32_t>(order); }
  [[nodiscard]] bool before(Event other) const {
    return time_ps != other.time_ps ? time_ps < other.time_ps : order < other.order;
  }

 private:
  static constexpr int kKindShift = 56;
};
static_assert(sizeof(Event) == 16 && std::is_trivially_copyable_v<Event>);

/// Pending events: a 4-ary heap in one vector and, beside it, an event that comes before all of the heap, if
/// one was pushed since the last pop. What is pushed to be popped next never moves the heap: most steps of an
/// engine are of that kind. Otherwise push and pop are O(log n). No allocation once warm.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return !has_first_ && heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size() + (has_first_ ? 1 : 0); }
  /// Precondition: not empty.
  [[nodiscard]] Event top() const { return has_first_ ? first_ : heap_.front(); }

  void push(Event event) {
    if (!empty() && !event.before(top())) {
      push_to_heap(event);
      return;
    }
    if (has_first_) {
      push_to_heap(first_);
    }
    first_ = event;
    has_first_ = true;
  }

  /// Precondition: not empty.
  Event pop() {
    if (has_first_) {
      has_first_ = false;
      return first_;
    }
    return pop_from_heap();
  }

 private:
  static constexpr std::size_t kArity = 4;

  void push_to_heap(Event event) {
    heap_.push_back(event);
    std::size_t child = heap_.size() - 1;
    while (child > 0) {
      const std::size_t parent = (child - 1) / kArity;
      if (!event.before(heap_[parent])) {
        break;
      }
      heap_[child] = heap_[parent];
      child = parent;
    }
    heap_[child] = event;
  }

  Event pop_from_heap() {
    const Event least = heap_.front();
    const Event moved = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      sift_down(moved);
    }
    return least;
  }

  void sift_down(Event moved) {
    std::size_t parent = 0;
    while (true) {
      const std::size_t first_child = parent * kArity + 1;
      if (first_child >= heap_.size()) {
        break;
      }
      const std::size_t end = first_child + kArity < heap_.size() ? first_child + kArity : heap_.size();
      std::size_t least = first_child;
      for (std::size_t child = first_child + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) {
          least = child;
        }
      }
      if (!heap_[least].before(moved)) {
        break;
      }
      heap_[parent] = heap_[least];
      parent = least;
    }
    heap_[parent] = moved;
  }

  std::vector<Event> heap_;
  Event first_{};  // valid when has_first_; before every event of the heap
  bool has_first_ = false;
};

}  // namespace inferometer
