#pragma once

// A thread block on the CPU: its threads are fibers that take turns, so that the code of a kernel runs as it
// is written, against emulated instructions (kernels/tensor_core/ beside this file stands in for the folder
// of that name). What hardware may do early or late is done at either end of what is allowed, as the test
// asks: a missing wait shows as a wrong result.

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <vector>

#include <ucontext.h>

namespace inferometer::testing {

/// When copies land: at once, or when every thread waits; then the first of them or the last.
enum class CopyTiming { at_once, late, late_last_first };

struct GpuTiming {
  CopyTiming copies = CopyTiming::late;
  /// Asynchronous products read their factors when they are waited for, and no sooner than others have gone
  /// on; else at once.
  bool late_products = true;
};

class Block {
 public:
  Block(int threads, int shared_bytes, GpuTiming timing);

  /// Runs the body once for each thread. Throws std::runtime_error when no thread can go on, or when
  /// something is still under way at the end.
  void run(const std::function<void()>& body);

  static Block& current();
  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] GpuTiming timing() const { return timing_; }

  /// Lets the other threads run until the condition holds.
  template <class Condition>
  void wait_until(Condition condition) {
    while (!condition()) {
      yield();
    }
    progressed_ = true;
  }

  /// All `size` threads of a group meet; the last to come acts for all, on what each brought.
  using Act = std::function<void(const std::vector<void*>& brought)>;
  void meet(int group, int size, int place, void* brings, const Act& act);

  /// Counts arrivals at a named barrier and gives the round that this one belongs to.
  std::uint64_t arrive_at(int barrier, int threads);
  [[nodiscard]] std::uint64_t rounds_of(int barrier) { return named_[barrier].rounds; }

  /// Lets everybody else run as far as they get: what follows happens late.
  void linger();

  /// Done when every thread waits.
  void do_late(std::function<void()> work) { late_.push_back(std::move(work)); }

  /// Bytes at a shared address. Throws std::out_of_range beyond the block's.
  unsigned char* shared(std::uint32_t address, std::size_t bytes);
  std::uint32_t shared_address(const void* pointer) const;
  unsigned char* shared_begin() { return shared_.data(); }

 private:
  struct Fiber {
    ucontext_t context{};
    std::vector<unsigned char> stack;
    bool done = false;
  };
  struct Meeting {
    std::vector<void*> brought;
    int arrived = 0;
    std::uint64_t rounds = 0;
  };

  void yield();
  /// A warp runs on until it waits for another: warps drift apart as far as barriers let them.
  bool run_warp(int first_thread);
  /// Whether there is more to run.
  bool run_each_warp();
  [[nodiscard]] bool is_quiet() const;
  void switch_to(int thread);
  void run_fiber();
  static void start_fiber();

  int threads_;
  GpuTiming timing_;
  std::vector<unsigned char> shared_;
  std::vector<Fiber> fibers_;
  ucontext_t scheduler_{};
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr failure_;
  int thread_ = 0;
  bool progressed_ = false;
  bool anybody_lingers_ = false;
  std::uint64_t passes_ = 0;  ///< through all warps
  std::map<int, Meeting> meetings_;
  std::map<int, Meeting> named_;
  std::vector<std::function<void()>> late_;
};

}  // namespace inferometer::testing
