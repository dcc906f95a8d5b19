#include "tests/support/emulated_gpu/block.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace inferometer::testing {
namespace {

constexpr int kWarp = 32;
constexpr std::size_t kStackBytes = 256 * 1024;
// Shared addresses are told from offsets: they do not begin at 0.
constexpr std::uint32_t kFirstSharedAddress = 4096;

Block* running = nullptr;

// The address sanitizer keeps a shadow of the stack and must hear of every change of it.
#if defined(__SANITIZE_ADDRESS__)
const void* scheduler_stack = nullptr;
std::size_t scheduler_stack_bytes = 0;

void leave(void** kept, const void* stack, std::size_t bytes) {
  __sanitizer_start_switch_fiber(kept, stack, bytes);
}
void enter(void* kept, bool from_scheduler) {
  __sanitizer_finish_switch_fiber(kept, from_scheduler ? &scheduler_stack : nullptr,
                                  from_scheduler ? &scheduler_stack_bytes : nullptr);
}
#else
const void* const scheduler_stack = nullptr;
const std::size_t scheduler_stack_bytes = 0;

void leave(void** /*kept*/, const void* /*stack*/, std::size_t /*bytes*/) {
}
void enter(void* /*kept*/, bool /*from_scheduler*/) {
}
#endif

}  // namespace

Block::Block(int threads, int shared_bytes, GpuTiming timing)
    : threads_(threads),
      timing_(timing),
      shared_(static_cast<std::size_t>(shared_bytes), 0xFF),  // NaN in every format
      fibers_(static_cast<std::size_t>(threads)) {
}

Block& Block::current() {
  return *running;
}

void Block::start_fiber() {
  enter(nullptr, true);
  running->run_fiber();
}

void Block::run_fiber() {
  try {
    (*body_)();
  } catch (...) {
    failure_ = std::current_exception();
  }
  Fiber& self = fibers_[static_cast<std::size_t>(thread_)];
  self.done = true;
  progressed_ = true;
  leave(nullptr, scheduler_stack, scheduler_stack_bytes);
  swapcontext(&self.context, &scheduler_);
}

void Block::yield() {
  Fiber& self = fibers_[static_cast<std::size_t>(thread_)];
  void* kept = nullptr;
  leave(&kept, scheduler_stack, scheduler_stack_bytes);
  swapcontext(&self.context, &scheduler_);
  enter(kept, true);
}

void Block::switch_to(int thread) {
  thread_ = thread;
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
  void* kept = nullptr;
  leave(&kept, fiber.stack.data(), fiber.stack.size());
  swapcontext(&scheduler_, &fiber.context);
  enter(kept, false);
}

bool Block::is_quiet() const {
  return late_.empty() && std::all_of(named_.begin(), named_.end(),
                                      [](const auto& barrier) { return barrier.second.arrived == 0; });
}

bool Block::run_warp(int first_thread) {
  bool any_progress = false;
  do {
    progressed_ = false;
    for (int thread = first_thread; thread < std::min(first_thread + kWarp, threads_); ++thread) {
      if (failure_ == nullptr && !fibers_[static_cast<std::size_t>(thread)].done) {
        switch_to(thread);
      }
    }
    any_progress = any_progress || progressed_;
  } while (progressed_ && failure_ == nullptr);
  return any_progress;
}

bool Block::run_each_warp() {
  bool any_progress = false;
  anybody_lingers_ = false;
  ++passes_;
  for (int first = 0; first < threads_; first += kWarp) {
    any_progress = run_warp(first) || any_progress;
  }
  if (std::all_of(fibers_.begin(), fibers_.end(), [](const Fiber& fiber) { return fiber.done; })) {
    return false;
  }
  if (any_progress || anybody_lingers_) {
    return true;
  }
  if (late_.empty()) {
    failure_ = std::make_exception_ptr(std::runtime_error("every thread of the block waits"));
  } else {
    const auto next = timing_.copies == CopyTiming::late ? late_.begin() : late_.end() - 1;
    const std::function<void()> work = std::move(*next);
    late_.erase(next);
    work();
  }
  return true;
}

void Block::run(const std::function<void()>& body) {
  Block* const outer = std::exchange(running, this);
  body_ = &body;
  for (Fiber& fiber : fibers_) {
    fiber.stack.resize(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    makecontext(&fiber.context, &Block::start_fiber, 0);
  }
  while (failure_ == nullptr && run_each_warp()) {
  }
  if (failure_ == nullptr && !is_quiet()) {
    failure_ = std::make_exception_ptr(
        std::runtime_error("the block ends while a copy is under way or a named barrier is half arrived at"));
  }
  running = outer;
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
}

void Block::linger() {
  constexpr std::uint64_t kPasses = 3;
  const std::uint64_t until = passes_ + kPasses;
  while (passes_ < until) {
    anybody_lingers_ = true;
    yield();
  }
}

void Block::meet(int group, int size, int place, void* brings, const Act& act) {
  Meeting& meeting = meetings_[group];
  meeting.brought.resize(static_cast<std::size_t>(size));
  meeting.brought[static_cast<std::size_t>(place)] = brings;
  const std::uint64_t round = meeting.rounds;
  if (++meeting.arrived == size) {
    act(meeting.brought);
    meeting.arrived = 0;
    ++meeting.rounds;
    progressed_ = true;
  } else {
    wait_until([&] { return meeting.rounds != round; });
  }
}

std::uint64_t Block::arrive_at(int barrier, int threads) {
  Meeting& meeting = named_[barrier];
  const std::uint64_t round = meeting.rounds;
  if (++meeting.arrived == threads) {
    meeting.arrived = 0;
    ++meeting.rounds;
  }
  progressed_ = true;
  return round;
}

unsigned char* Block::shared(std::uint32_t address, std::size_t bytes) {
  if (address < kFirstSharedAddress || address - kFirstSharedAddress + bytes > shared_.size()) {
    throw std::out_of_range("an address beyond the block's shared memory");
  }
  return shared_.data() + (address - kFirstSharedAddress);
}

std::uint32_t Block::shared_address(const void* pointer) const {
  return kFirstSharedAddress +
         static_cast<std::uint32_t>(static_cast<const unsigned char*>(pointer) - shared_.data());
}

}  // namespace inferometer::testing
