#include "sim/study/executor/mpi_executor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kLeader = 0;
/// A question in hand for each that is worked on.
constexpr std::int64_t kGivenASlot = 2;

Message outcome_message(Answer answer) {
  const bool has_failed = !answer.failure.empty();
  return {has_failed ? Message::Kind::failure : Message::Kind::answer, answer.ticket,
          std::move(has_failed ? answer.failure : answer.text)};
}

Answer outcome_of(Message message) {
  const bool has_failed = message.kind == Message::Kind::failure;
  return {message.number, has_failed ? "" : std::move(message.text),
          has_failed ? std::move(message.text) : ""};
}

std::string letter_of(const Message& outcome) {
  std::string letter = bytes_of(outcome);
  return letter.size() <= kLargestLetterBytes ? letter
                                              : bytes_of({Message::Kind::failure, outcome.number,
                                                          "its answer is longer than MPI can send (2 GiB)"});
}

}  // namespace

std::chrono::microseconds Pause::next() {
  return std::exchange(next_, std::min(2 * next_, kLongest));
}

MpiExecutor::MpiExecutor(RankMail& mail, LocalExecutor& own, const std::string& fingerprint)
    : mail_(mail), own_(own), ranks_(static_cast<std::size_t>(mail.ranks())) {
  INFEROMETER_CHECK(mail.rank() == static_cast<int>(kLeader), "one rank asks");
  ranks_[kLeader].slots = own.slots();
  try {
    hear_hellos(fingerprint);
  } catch (...) {
    end_other_ranks();
    throw;
  }
}

MpiExecutor::~MpiExecutor() {
  end_other_ranks();
}

std::int64_t MpiExecutor::slots() const {
  std::int64_t slots = 0;
  for (const Rank& rank : ranks_) {
    slots += rank.slots;
  }
  return slots;
}

void MpiExecutor::submit(std::int64_t ticket, std::string question) {
  line_.push_back({ticket, std::move(question)});
}

std::optional<Answer> MpiExecutor::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool is_last_look = false;;) {
    take_letters();
    hand_out();
    if (!answers_.empty()) {
      Answer answer = std::move(answers_.front());
      answers_.pop_front();
      return answer;
    }
    if (is_last_look) {
      return std::nullopt;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now());
    is_last_look = left <= left.zero();
    const auto sleep = std::clamp(left, left.zero(), pause_.next());
    if (std::optional<Answer> own = own_.wait_for(sleep)) {
      take_answer(kLeader, std::move(*own));
    }
    ranks_[kLeader].slots_left = own_.slots_left();
  }
}

void MpiExecutor::hear_hellos(const std::string& fingerprint) {
  std::optional<int> stranger;
  for (int heard = 1; heard < mail_.ranks();) {
    const std::optional<RankMail::Letter> letter = mail_.receive();
    if (!letter) {
      std::this_thread::sleep_for(pause_.next());
      continue;
    }
    const Message hello = message_of(letter->bytes);
    INFEROMETER_CHECK(hello.kind == Message::Kind::hello, "a rank says hello first");
    ranks_[static_cast<std::size_t>(letter->from)].slots = hello.number;
    if (hello.text != fingerprint) {
      stranger = std::min(stranger.value_or(letter->from), letter->from);
    }
    ++heard;
  }
  for (Rank& rank : ranks_) {
    rank.slots_left = rank.slots;
  }
  if (stranger) {
    throw ConfigError(
        Position{},
        fmt::format("rank {} of the MPI job was started otherwise than rank 0: with another version, "
                    "other files or other options; start all ranks by one command, with the same "
                    "files on every machine",
                    *stranger));
  }
}

void MpiExecutor::end_other_ranks() {
  for (int rank = 1; rank < mail_.ranks(); ++rank) {
    mail_.send(rank, bytes_of({Message::Kind::end, 0, ""}));
  }
  // Letters that nobody takes would keep their senders.
  pause_.reset();
  for (int to_end = mail_.ranks() - 1; to_end > 0;) {
    if (const std::optional<RankMail::Letter> letter = mail_.receive()) {
      to_end -= message_of(letter->bytes).kind == Message::Kind::end ? 1 : 0;
    } else {
      std::this_thread::sleep_for(pause_.next());
    }
  }
}

/// Less to do a slot; of the ranks without a slot none has.
bool MpiExecutor::has_more_room(const Rank& a, const Rank& b) {
  if (a.slots_left == 0 || b.slots_left == 0) {
    return a.slots_left != 0 && b.slots_left == 0;
  }
  return a.given * b.slots_left < b.given * a.slots_left;
}

void MpiExecutor::hand_out() {
  std::int64_t slots_left = 0;
  for (const Rank& rank : ranks_) {
    slots_left += rank.slots_left;
  }
  if (slots_left == 0) {
    for (const Question& question : line_) {
      answers_.push_back({question.ticket, "", kNobodyLeft});
    }
    line_.clear();
  }
  while (!line_.empty()) {
    const auto rank = std::min_element(ranks_.begin(), ranks_.end(), has_more_room);
    // As in LocalExecutor::hand_out(): the end of the line is for those that have nothing to do.
    const bool has_more_than_slots = static_cast<std::int64_t>(line_.size()) > slots_left;
    if (rank->given >= (has_more_than_slots ? kGivenASlot : 1) * rank->slots_left) {
      return;
    }
    give(static_cast<std::size_t>(rank - ranks_.begin()));
  }
}

void MpiExecutor::give(std::size_t rank) {
  Question question = std::move(line_.front());
  line_.pop_front();
  ++ranks_[rank].given;
  if (rank == kLeader) {
    own_.submit(question.ticket, std::move(question.text));
  } else {
    mail_.send(static_cast<int>(rank),
               bytes_of({Message::Kind::question, question.ticket, std::move(question.text)}));
  }
}

void MpiExecutor::take_letters() {
  while (const std::optional<RankMail::Letter> letter = mail_.receive()) {
    const std::size_t rank = static_cast<std::size_t>(letter->from);
    Message message = message_of(letter->bytes);
    if (message.kind == Message::Kind::slots) {
      ranks_[rank].slots_left = message.number;
    } else {
      take_answer(rank, outcome_of(std::move(message)));
    }
  }
}

void MpiExecutor::take_answer(std::size_t rank, Answer answer) {
  --ranks_[rank].given;
  answers_.push_back(std::move(answer));
  pause_.reset();
}

void answer_questions(RankMail& mail, LocalExecutor& own, const std::string& fingerprint) {
  mail.send(static_cast<int>(kLeader), bytes_of({Message::Kind::hello, own.slots(), fingerprint}));
  std::int64_t slots_left = own.slots_left();
  for (Pause pause;;) {
    while (const std::optional<RankMail::Letter> letter = mail.receive()) {
      Message message = message_of(letter->bytes);
      if (message.kind == Message::Kind::end) {
        mail.send(static_cast<int>(kLeader), bytes_of({Message::Kind::end, 0, ""}));
        return;
      }
      own.submit(message.number, std::move(message.text));
      pause.reset();
    }
    std::optional<Answer> answer = own.wait_for(pause.next());
    if (own.slots_left() != slots_left) {
      slots_left = own.slots_left();
      mail.send(static_cast<int>(kLeader), bytes_of({Message::Kind::slots, slots_left, ""}));
    }
    if (answer) {
      mail.send(static_cast<int>(kLeader), letter_of(outcome_message(std::move(*answer))));
      pause.reset();
    }
  }
}

}  // namespace inferometer
