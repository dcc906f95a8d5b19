#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace inferometer {
namespace {

class Jobs {
 public:
  Jobs(std::int64_t count, int workers, const std::function<void(std::int64_t)>& job)
      : count_(count), working_(workers), job_(job) {}

  void work() {
    while (const std::optional<std::int64_t> index = take()) {
      try {
        job_(*index);
      } catch (...) {
        fail(*index, std::current_exception());
      }
    }
    const std::lock_guard lock(mutex_);
    --working_;
    has_ended_.notify_one();
  }

  /// True when all have ended.
  bool wait_a_little() {
    constexpr std::chrono::milliseconds kLook(100);
    std::unique_lock lock(mutex_);
    return has_ended_.wait_for(lock, kLook, [this] { return working_ == 0; });
  }

  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::optional<std::int64_t> take() {
    const std::lock_guard lock(mutex_);
    return next_ < count_ && !error_ ? std::optional(next_++) : std::nullopt;
  }

  void fail(std::int64_t index, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || index < failed_) {
      failed_ = index;
      error_ = std::move(error);
    }
  }

  const std::int64_t count_;
  std::mutex mutex_;
  std::condition_variable has_ended_;
  std::int64_t next_ = 0;
  int working_;
  std::int64_t failed_ = 0;
  std::exception_ptr error_;
  const std::function<void(std::int64_t)>& job_;
};

}  // namespace

void run_jobs(std::int64_t count, int threads, const std::function<void(std::int64_t)>& job,
              const std::function<void()>& watch) {
  INFEROMETER_CHECK(threads >= 1, "jobs need a thread");
  const auto workers = static_cast<int>(std::min<std::int64_t>(threads, count));
  Jobs jobs(count, workers, job);
  {
    std::vector<std::jthread> pool;
    for (int i = 0; i < workers; ++i) {
      pool.emplace_back([&jobs] { jobs.work(); });
    }
    while (!jobs.wait_a_little()) {
      watch();
    }
  }
  watch();
  jobs.rethrow();
}

}  // namespace inferometer
