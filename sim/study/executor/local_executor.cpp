#include "sim/study/executor/local_executor.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "sim/study/executor/keeper.hpp"

namespace inferometer {

LocalExecutor::LocalExecutor(int jobs, const Evaluator& evaluate) : jobs_(jobs) {
  INFEROMETER_CHECK(jobs >= 1, "somebody has to work");
  seats_.reserve(static_cast<std::size_t>(jobs));
  try {
    for (int seat = 0; seat < jobs; ++seat) {
      seats_.push_back(Seat{ChildProcess([&](int boss) { keep_worker(boss, evaluate); })});
      const int socket = seats_.back().keeper.socket();
      fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    }
  } catch (const std::system_error& error) {
    throw ConfigError(Position{},
                      "cannot start " + std::to_string(jobs) + " worker processes: " + error.what());
  }
}

LocalExecutor::~LocalExecutor() {
  // A keeper that is killed would leave the last of its workers to others.
  for (Seat& seat : seats_) {
    seat.keeper.hang_up();
  }
  for (Seat& seat : seats_) {
    seat.keeper.end();
  }
}

void LocalExecutor::submit(std::int64_t ticket, std::string question) {
  line_.push_back({ticket, std::move(question)});
}

std::optional<Answer> LocalExecutor::wait_for(std::chrono::microseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool is_last_look = false;;) {
    hand_out();
    if (!answers_.empty()) {
      Answer answer = std::move(answers_.front());
      answers_.pop_front();
      return answer;
    }
    if (is_last_look) {
      return std::nullopt;
    }
    const auto left = deadline - std::chrono::steady_clock::now();
    is_last_look = left <= left.zero();
    if (!wait_for_sockets(std::max(left, left.zero()))) {
      return std::nullopt;
    }
  }
}

void LocalExecutor::hand_out() {
  if (seats_.empty()) {
    for (const Question& question : line_) {
      answers_.push_back({question.ticket, "", kNobodyLeft});
    }
    line_.clear();
  }
  // One in hand besides the one that is worked on keeps a worker from waiting for this process. The end of
  // the line stays here: in a hand it could wait behind a long one while another worker has nothing to do.
  hand_out_up_to(1, 0);
  hand_out_up_to(2, seats_.size());
}

void LocalExecutor::hand_out_up_to(std::size_t given, std::size_t left_in_line) {
  for (Seat& seat : seats_) {
    if (line_.size() <= left_in_line) {
      return;
    }
    if (seat.given.size() < given) {
      give(seat);
    }
  }
}

void LocalExecutor::give(Seat& seat) {
  seat.given.push_back(std::move(line_.front()));
  line_.pop_front();
  const Question& question = seat.given.back();
  seat.outgoing += bytes_of({Message::Kind::question, question.ticket, question.text});
  write_to(seat);
}

bool LocalExecutor::wait_for_sockets(std::chrono::nanoseconds patience) {
  std::vector<pollfd> sockets;
  sockets.reserve(seats_.size());
  for (const Seat& seat : seats_) {
    const short events = seat.outgoing.empty() ? POLLIN : POLLIN | POLLOUT;
    sockets.push_back({seat.keeper.socket(), events, 0});
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timespec timeout{seconds.count(), (patience - seconds).count()};
  const int ready = ppoll(sockets.data(), sockets.size(), &timeout, nullptr);
  if (ready <= 0) {
    return ready == 0;
  }
  for (std::size_t i = sockets.size(); i-- > 0;) {  // from behind, as seats may go
    if ((sockets[i].revents & POLLOUT) != 0) {
      write_to(seats_[i]);
    }
    if ((sockets[i].revents & ~POLLOUT) != 0 && !read_from(seats_[i])) {
      lose(seats_[i]);
      seats_.erase(seats_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return true;
}

void LocalExecutor::write_to(Seat& seat) {
  const std::optional<std::size_t> written = write_some(seat.keeper.socket(), seat.outgoing);
  // Where nobody reads any more, reading finds that out, behind the last replies.
  seat.outgoing.erase(0, written.value_or(seat.outgoing.size()));
}

bool LocalExecutor::read_from(Seat& seat) {
  const std::optional<std::string> bytes = read_some(seat.keeper.socket());
  if (!bytes) {
    return false;
  }
  seat.incoming.add(*bytes);
  while (std::optional<Message> reply = seat.incoming.next()) {
    INFEROMETER_CHECK(!seat.given.empty() && seat.given.front().ticket == reply->number,
                      "a keeper replies in the order of its questions");
    seat.given.pop_front();
    const bool is_answer = reply->kind == Message::Kind::answer;
    answers_.push_back(
        {reply->number, is_answer ? std::move(reply->text) : "", is_answer ? "" : std::move(reply->text)});
  }
  return true;
}

void LocalExecutor::lose(Seat& seat) {
  const std::string how = seat.keeper.end();
  if (!seat.given.empty()) {
    answers_.push_back({seat.given.front().ticket, "", how});
    seat.given.pop_front();
  }
  while (!seat.given.empty()) {
    line_.push_front(std::move(seat.given.back()));
    seat.given.pop_back();
  }
}

}  // namespace inferometer
