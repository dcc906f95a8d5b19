#pragma once

// Many independent questions, answered by other processes: on this machine, or on the ranks of an MPI job.
// Who uses it: studies, which ask what comes out of a scenario. It knows nothing of them: a question and its
// answer are text.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace inferometer {

/// Answers a question; the same question always gets the same answer. Runs in another process than the one
/// that asks, a copy of it from before (a fork), or another rank that was started alike.
using Evaluator = std::function<std::string(const std::string& question)>;

struct Answer {
  std::int64_t ticket = 0;  ///< of its question
  std::string text;
  /// Why there is none: "the process that worked on it was killed (signal 9)", or what the evaluator threw.
  /// Empty: there is.
  std::string failure;
};

class Executor {
 public:
  virtual ~Executor() = default;

  /// Questions it works on at the same time.
  [[nodiscard]] virtual std::int64_t slots() const = 0;

  /// Puts a question in line. Does not block on work. Precondition: a ticket that is not in use.
  virtual void submit(std::int64_t ticket, std::string question) = 0;

  /// The next answer, in the order in which they come; nothing when none came within `patience`. A process
  /// that dies fails its question only, and another one takes its place.
  virtual std::optional<Answer> wait(std::chrono::milliseconds patience) = 0;
};

struct ExecutorOptions {
  int jobs = 1;  ///< worker processes on this machine, >= 1; of an MPI job, on each rank
};

/// Calls `lead` with an executor whose processes call `evaluate`, and ends them when it returns or throws. In
/// an MPI job (is_mpi_job()) `lead` is called on rank 0 alone; the other ranks answer, and return when it has
/// returned. Must be called before the process has threads. Throws what `lead` throws; ConfigError when
/// processes cannot be started, or when the program was built without MPI and runs in an MPI job.
void with_executor(const ExecutorOptions& options, const Evaluator& evaluate,
                   const std::function<void(Executor&)>& lead);

/// Whether mpirun or Slurm started this process as one of several ranks.
bool is_mpi_job();

}  // namespace inferometer
