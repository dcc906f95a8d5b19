#pragma once

// The part of a run that a trace is to show, as a user writes it. Who uses it: `inferometer run`.

#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace inferometer {

/// From `begin` until `end`, not included; without one to the end of the run.
struct TraceWindow {
  TimePoint begin{};
  std::optional<TimePoint> end{};

  [[nodiscard]] bool contains(TimePoint time) const { return time >= begin && !is_past(time); }
  /// Whether what is shown would have begun earlier.
  [[nodiscard]] bool is_past(TimePoint time) const { return end && time >= *end; }
  /// Whether something that lasts from one time to another is partly within. What has no length is within if
  /// its moment is.
  [[nodiscard]] bool touches(TimePoint from, TimePoint to) const {
    return !is_past(from) && (to > begin || from >= begin);
  }
};

/// "10 s..20 s": two times since the start of the run, with units as in a scenario; blanks are optional.
/// Throws ConfigError, at "--trace-window", which says what was found and what is allowed.
TraceWindow parse_trace_window(std::string_view text);

}  // namespace inferometer
