#pragma once

// One event of the Trace Event Format ("Trace Event Format", Google 2016), which Perfetto and Chrome's
// about:tracing read: JSON, times in microseconds. Simulated time is whole picoseconds, so that six decimals
// say it exactly. Events may come in any order; of events of one moment the viewers take the first in the
// file for the earlier one.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.hpp"

namespace inferometer {

/// What the format calls process and thread: a group of tracks in the viewer, and one of them. From 1 on, as
/// viewers take 0 for the idle process of Linux.
struct TraceThread {
  std::int64_t process = 1;
  std::int64_t thread = 1;
};

class TraceEvent {
 public:
  /// `phase`: X complete, i instant, C counter, b and e begin and end of an async slice, n a moment in one, M
  /// metadata.
  TraceEvent(char phase, const TraceThread& thread, std::string_view name);

  TraceEvent& at(TimePoint time);
  TraceEvent& lasting(Duration duration);
  /// Async slices of one category and id are nested in each other.
  TraceEvent& in(std::string_view category, std::int64_t id);
  TraceEvent& in(std::string_view category);
  /// Of an instant: shown on its thread's track alone.
  TraceEvent& on_thread();

  /// Arguments come last, in the order of the calls.
  TraceEvent& argument(std::string_view name, std::int64_t value);
  TraceEvent& argument(std::string_view name, std::string_view value);
  /// In microseconds.
  TraceEvent& argument(std::string_view name, Duration value);
  /// In hundredths.
  TraceEvent& percentage(std::string_view name, double share);
  /// Arguments in an argument of their own, until end_group().
  TraceEvent& begin_group(std::string_view name);
  TraceEvent& end_group();

  /// With a comma and a newline before it: events follow a first one.
  std::string text();

 private:
  void key(std::string_view name);
  void argument_key(std::string_view name);

  std::string text_;
  bool has_arguments_ = false;
  bool is_first_ = true;  // in its group of arguments
};

/// A name for a process (what: "process_name") or thread ("thread_name").
std::string name_event(std::string_view what, const TraceThread& thread, std::string_view name);

/// Where the viewer shows the process among others.
std::string order_event(const TraceThread& thread);

}  // namespace inferometer
