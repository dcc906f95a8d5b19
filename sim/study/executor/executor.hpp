#pragma once

// Many independent questions, answered by other processes: on this machine, or on the ranks of an MPI job.
// Who uses it: studies, which ask what comes out of a scenario. It knows nothing of them: a question and its
// answer are text.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace inferometer {

/// Answers a question; the same question always gets the same answer. Runs in another process than the one
/// that asks, a copy of it from before (a fork), or another rank that was started alike. What that process
/// inherits ends there: open files above stderr are closed in it, Ctrl-C passes it by, and it has the thread
/// that calls and no other. It may end its process in any way, and takes questions one after the other; one
/// that wants a process to itself calls in_own_process() (own_process.hpp).
using Evaluator = std::function<std::string(const std::string& question)>;

struct Answer {
  std::int64_t ticket = 0;  ///< of its question
  std::string text;
  /// Why there is none: "the process that worked on it was killed (signal 9, SIGKILL)", or what the evaluator
  /// threw. Empty: there is.
  std::string failure;
};

class Executor {
 public:
  virtual ~Executor() = default;

  /// Questions it works on at the same time, >= 1.
  [[nodiscard]] virtual std::int64_t slots() const = 0;

  /// Puts a question in line. Does not block on work. Precondition: a ticket that is not in use.
  virtual void submit(std::int64_t ticket, std::string question) = 0;

  /// The next answer, in the order in which they come; nothing when none came within `patience`, or a signal
  /// did. Precondition: 0 <= patience <= a day. A process that dies fails the question it worked on and no
  /// other, and another one takes its place; the question is not asked again. Questions move only while
  /// somebody waits: a process has one more in hand than the one it works on as long as the line is longer
  /// than slots().
  virtual std::optional<Answer> wait(std::chrono::milliseconds patience) = 0;
};

struct ExecutorOptions {
  /// Worker processes on this machine, >= 1; of an MPI job, on each rank. Where mpirun binds a rank to one
  /// core (it does unless told `--bind-to none`), so are all of its workers.
  int jobs = 1;
  /// What the answers depend on besides the question: version, files, options. Ranks must have it alike.
  std::string fingerprint;
};

/// Calls `lead` with an executor whose processes call `evaluate`, and ends them when it returns or throws,
/// whatever they work on. In an MPI job (is_mpi_job()) `lead` is called on rank 0 alone; the other ranks
/// answer, and return when it has returned. Returns whether `lead` was called in this process. Must be called
/// before the process has threads, and once where it is an MPI job. When this process is killed, so are those
/// it started; a rank that dies ends the MPI job. Throws what `lead` throws; ConfigError when processes
/// cannot be started, when the program was built without MPI and runs in an MPI job, and, on rank 0, when a
/// rank has another fingerprint.
bool with_executor(const ExecutorOptions& options, const Evaluator& evaluate,
                   const std::function<void(Executor&)>& lead);

/// Whether mpirun or Slurm started this process as one of several ranks.
bool is_mpi_job();

}  // namespace inferometer
