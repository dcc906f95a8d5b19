#pragma once

// Ctrl-C during work that can end early and keep what it has.

#include <atomic>
#include <csignal>

namespace inferometer {

inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells report it

/// While it lives, Ctrl-C is noted instead of ending the program; a second one ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether Ctrl-C was pressed under any guard so far.
  [[nodiscard]] static const std::atomic<bool>& flag();

 private:
  struct sigaction previous_ {};
};

}  // namespace inferometer
