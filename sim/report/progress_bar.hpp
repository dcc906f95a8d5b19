#pragma once

// What a person at a terminal sees while a run takes its time.

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.hpp"

namespace inferometer {

struct Progress {
  double elapsed_seconds = 0;  ///< of real time; the clock is the caller's
  Duration simulated{};
  std::string doing;  ///< shown in place of `simulated`, unless empty
  std::int64_t requests_done = 0;
  std::optional<std::int64_t> requests_in_all;  ///< when it is known
  std::string_view unit = "req";                ///< what is counted, where it is not requests: "points"
};

/// One line of at most `width` characters: bar, share, simulated time or `doing`, requests per second of real
/// time and time left. Without requests_in_all: no bar, share or time left. Precondition: elapsed_seconds >
/// 0.
std::string progress_line(const Progress& progress, int width);

class ProgressBar {
 public:
  /// Draws nothing unless `is_terminal`. `out` outlives the bar.
  ProgressBar(std::ostream& out, bool is_terminal, int width = 80);
  /// Clears, so that an error's message has a line of its own.
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Redraws the line, from one second of elapsed time on and ten times a second at most. Cheap when it need
  /// not.
  void update(const Progress& progress);
  /// Takes the line off the terminal, for what is printed next.
  void clear();

 private:
  std::ostream& out_;
  bool is_terminal_;
  int width_;
  double next_draw_seconds_;
  bool is_drawn_ = false;
};

}  // namespace inferometer
