#include "sim/cli/interrupt_guard.hpp"

namespace inferometer {
namespace {

std::atomic<bool> g_interrupted{false};
// A signal handler may touch no other kind.
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) {
  g_interrupted.store(true);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &previous_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &previous_, nullptr);
}

const std::atomic<bool>& InterruptGuard::flag() {
  return g_interrupted;
}

}  // namespace inferometer
