#pragma once

// Independent jobs over a few threads. Who uses it: whatever replays a scenario more than once.

#include <cstdint>
#include <functional>

namespace inferometer {

/// Runs job(0) ... job(count - 1), each once, started in this order, on `threads` threads of its own (at most
/// one a job); returns when all have ended. Meanwhile the calling thread calls `watch` about ten times a
/// second, and once at the end. When jobs throw, no further ones start, and the exception of the lowest index
/// is thrown on: the same one for any number of threads. `watch` may not throw.
/// Precondition: threads >= 1. Jobs that share data do so at their own care.
void run_jobs(std::int64_t count, int threads, const std::function<void(std::int64_t)>& job,
              const std::function<void()>& watch);

}  // namespace inferometer
