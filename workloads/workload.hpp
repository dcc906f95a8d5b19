#pragma once

#include <optional>

#include "base/units.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// A stream of requests, pulled one at a time, so that a trace of any length takes constant memory.
/// Called by the engine: next_arrival() to know when to wake, take() at that time, finished() for every
/// request that left the system. An implementation is deterministic and never looks at simulated state beyond
/// that.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Arrival of the request that take() would return now. Empty: nothing more is coming, or (closed loop)
  /// nothing until another request finishes. Does not change between calls to take() and finished(). May
  /// throw TraceError.
  virtual std::optional<TimePoint> next_arrival() = 0;

  /// Moves the next request into `request` (reusing its storage). Precondition: next_arrival() has a value.
  virtual void take(Request& request) = 0;

  /// Request `id` left the system (completed or rejected) at `now`. Only closed loops listen.
  virtual void finished(std::int64_t id, TimePoint now) {
    (void)id;
    (void)now;
  }

  /// Of the request that was taken last: how long after the answer to its session's request before it was
  /// due. Empty: its arrival waited for nothing. For those who write a workload down.
  [[nodiscard]] virtual std::optional<Duration> delay() const { return std::nullopt; }

  /// Requests it will produce in all, when that is known beforehand; for progress only.
  [[nodiscard]] virtual std::optional<std::int64_t> size_hint() const { return std::nullopt; }
};

}  // namespace inferometer
