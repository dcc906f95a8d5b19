#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// What can happen, in the order in which things of one instant happen: steps end first, so that an arrival
/// at that very moment finds their effect; then requests arrive; then free replicas decide, knowing both.
enum class EventKind : std::uint32_t {
  step_end = 0,  ///< target: replica
  arrival = 1,   ///< target: 0
  schedule = 2,  ///< target: replica
};

/// Ordered by time, then kind, then target: one step end and one schedule pending per replica make that
/// total.
struct Event {
  std::int64_t time_ps;
  std::uint64_t order;  ///< kind << 56 | target
  EventKind kind;
  std::uint32_t target;

  static Event at(TimePoint time, EventKind kind, std::uint32_t target) {
    return {time.since_start().count(), static_cast<std::uint64_t>(kind) << 56 | target, kind, target};
  }
  [[nodiscard]] TimePoint time() const { return TimePoint(Duration(time_ps)); }
  [[nodiscard]] bool before(const Event& other) const {
    return time_ps != other.time_ps ? time_ps < other.time_ps : order < other.order;
  }
};
static_assert(sizeof(Event) == 24 && std::is_trivially_copyable_v<Event>);

/// Pending events in a 4-ary heap in one vector: push and pop O(log n), no allocation once warm.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Precondition: not empty.
  [[nodiscard]] const Event& top() const { return heap_.front(); }

  void push(const Event& event) {
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

  /// Precondition: not empty.
  Event pop() {
    const Event first = heap_.front();
    const Event moved = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      sift_down(moved);
    }
    return first;
  }

 private:
  static constexpr std::size_t kArity = 4;

  void sift_down(const Event& moved) {
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
};

}  // namespace inferometer
