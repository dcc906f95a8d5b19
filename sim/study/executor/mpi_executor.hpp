#pragma once

// The questions of rank 0 on all ranks of an MPI job. Main processes of ranks pass on questions and answers;
// their workers work (local_executor.hpp). They look for letters in turns with sleeping: waiting in MPI keeps
// a core busy.

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/local_executor.hpp"
#include "sim/study/executor/message.hpp"
#include "sim/study/executor/mpi_mail.hpp"

namespace inferometer {

/// How long to sleep until the next look for letters: longer and longer while none come. The longest delays
/// an answer by less than the question that its rank has in hand takes, which hides it.
class Pause {
 public:
  [[nodiscard]] std::chrono::microseconds next();
  void reset() { next_ = kShortest; }

 private:
  static constexpr std::chrono::microseconds kShortest{200};
  static constexpr std::chrono::microseconds kLongest{2000};
  std::chrono::microseconds next_ = kShortest;
};

/// Of rank 0. When it goes, the other ranks return from answer_questions().
class MpiExecutor final : public Executor {
 public:
  /// Waits until all ranks have said hello. Throws ConfigError when one has another fingerprint.
  MpiExecutor(RankMail& mail, LocalExecutor& own, const std::string& fingerprint);
  ~MpiExecutor() override;
  MpiExecutor(const MpiExecutor&) = delete;
  MpiExecutor& operator=(const MpiExecutor&) = delete;

  [[nodiscard]] std::int64_t slots() const override;
  void submit(std::int64_t ticket, std::string question) override;
  std::optional<Answer> wait(std::chrono::milliseconds patience) override;

 private:
  struct Question {
    std::int64_t ticket;
    std::string text;
  };
  struct Rank {
    std::int64_t slots = 0;
    std::int64_t slots_left = 0;  // those that are gone taken off
    std::int64_t given = 0;       // questions not answered yet
  };

  static bool has_more_room(const Rank& a, const Rank& b);

  void hear_hellos(const std::string& fingerprint);
  void end_other_ranks();
  void hand_out();
  void give(std::size_t rank);
  void take_letters();
  void take_answer(std::size_t rank, Answer answer);

  RankMail& mail_;
  LocalExecutor& own_;
  std::vector<Rank> ranks_;
  std::deque<Question> line_;
  std::deque<Answer> answers_;
  Pause pause_;
};

/// What the other ranks do until rank 0 has no more questions.
void answer_questions(RankMail& mail, LocalExecutor& own, const std::string& fingerprint);

}  // namespace inferometer
