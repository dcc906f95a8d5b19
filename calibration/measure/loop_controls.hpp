#pragma once

// What the measuring loop needs from around it, so that tests need neither time nor a terminal.

#include <atomic>
#include <functional>

namespace inferometer {

struct LoopControls {
  std::function<double()> now_seconds;            ///< of a clock that never goes back
  std::function<void(double)> sleep_seconds;      ///< waits, about so long
  const std::atomic<bool>* is_stopped = nullptr;  ///< set by Ctrl-C; nullptr: nobody stops it

  [[nodiscard]] bool must_stop() const { return is_stopped != nullptr && is_stopped->load(); }
};

/// The machine's steady clock. `is_stopped` outlives what is returned.
LoopControls real_time_controls(const std::atomic<bool>& is_stopped);

}  // namespace inferometer
