#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/executor/child_process.hpp"
#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/message.hpp"

namespace inferometer {

/// What became of questions when every process that could work on them was ended from outside.
inline constexpr const char* kNobodyLeft = "no process is left to work on it; all were ended from outside";

/// Worker processes on this machine, each behind its keeper (keeper.hpp). Where a keeper is ended from
/// outside, which nothing of ours does, its slot is gone. Sockets do not block on this side, so that no
/// question is too long to be put in line.
class LocalExecutor final : public Executor {
 public:
  /// Throws ConfigError when the system has no room for so many processes. Precondition: jobs >= 1, and this
  /// process has one thread.
  LocalExecutor(int jobs, const Evaluator& evaluate);
  ~LocalExecutor() override;
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  [[nodiscard]] std::int64_t slots() const override { return jobs_; }
  void submit(std::int64_t ticket, std::string question) override;
  std::optional<Answer> wait(std::chrono::milliseconds patience) override { return wait_for(patience); }

  /// The same, with less patience.
  std::optional<Answer> wait_for(std::chrono::microseconds patience);
  /// Slots that are not gone.
  [[nodiscard]] std::int64_t slots_left() const { return static_cast<std::int64_t>(seats_.size()); }

 private:
  struct Question {
    std::int64_t ticket;
    std::string text;
  };
  struct Seat {
    ChildProcess keeper;
    std::deque<Question> given{};  // the first is worked on
    std::string outgoing{};
    MessageReader incoming{};
  };

  void hand_out();
  void hand_out_up_to(std::size_t given, std::size_t left_in_line);
  void give(Seat& seat);
  /// False when a signal came.
  bool wait_for_sockets(std::chrono::nanoseconds patience);
  static void write_to(Seat& seat);
  /// False when the keeper is gone.
  bool read_from(Seat& seat);
  void lose(Seat& seat);

  std::int64_t jobs_;
  std::vector<Seat> seats_;
  std::deque<Question> line_;
  std::deque<Answer> answers_;
};

}  // namespace inferometer
