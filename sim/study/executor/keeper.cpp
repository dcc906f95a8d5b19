#include "sim/study/executor/keeper.hpp"

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/executor/child_process.hpp"
#include "sim/study/executor/evaluate.hpp"
#include "sim/study/executor/message.hpp"

namespace inferometer {
namespace {

/// A machine that runs out of memory shall lose a worker, which is replaced, and not the program.
void volunteer_for_out_of_memory() {
  constexpr std::string_view kFirst = "1000";
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    static_cast<void>(!write(file, kFirst.data(), kFirst.size()));
    close(file);
  }
}

void work(int keeper, const Evaluator& evaluate) {
  volunteer_for_out_of_memory();
  while (const std::optional<Message> question = receive_message(keeper)) {
    if (!send_message(keeper, evaluated(evaluate, *question))) {
      return;
    }
  }
}

/// Fetches the ends of the processes that a worker left behind, which die with it and fall to this process.
void collect_orphans() {
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

class Keeper {
 public:
  Keeper(int boss, const Evaluator& evaluate) : boss_(boss), evaluate_(evaluate) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Keeper() { lose_worker(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Nothing when the other end of the boss's socket closed meanwhile.
  std::optional<Message> reply(const Message& question) {
    try {
      have_worker();
    } catch (const std::system_error& error) {
      return Message{Message::Kind::failure, question.number,
                     std::string("no process could be started to work on it: ") + error.what()};
    }
    if (send_message(worker_->socket(), question)) {
      if (!has_come_before_boss_left()) {
        return std::nullopt;
      }
      if (std::optional<Message> reply = receive_message(worker_->socket())) {
        return reply;
      }
    }
    Message failure{Message::Kind::failure, question.number, worker_->end()};
    lose_worker();
    return failure;
  }

 private:
  void have_worker() {
    if (worker_ && !worker_->is_running()) {
      lose_worker();
    }
    if (!worker_) {
      worker_.emplace([this](int keeper) { work(keeper, evaluate_); });
    }
  }

  void lose_worker() {
    worker_.reset();
    collect_orphans();
  }

  /// Waits until the worker says something or dies.
  bool has_come_before_boss_left() const {
    for (;;) {
      std::array<pollfd, 2> sockets{pollfd{boss_, POLLRDHUP, 0}, pollfd{worker_->socket(), POLLIN, 0}};
      if (poll(sockets.data(), sockets.size(), -1) < 0) {
        continue;  // a signal
      }
      if (sockets[0].revents != 0) {
        return false;
      }
      if (sockets[1].revents != 0) {
        return true;
      }
    }
  }

  int boss_;
  const Evaluator& evaluate_;
  std::optional<ChildProcess> worker_;
};

}  // namespace

void keep_worker(int boss, const Evaluator& evaluate) {
  Keeper keeper(boss, evaluate);
  while (const std::optional<Message> question = receive_message(boss)) {
    const std::optional<Message> reply = keeper.reply(*question);
    if (!reply || !send_message(boss, *reply)) {
      return;
    }
  }
}

}  // namespace inferometer
