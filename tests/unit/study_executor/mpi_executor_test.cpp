// The executor of an MPI job without MPI: each rank is a thread, letters lie in memory.
#include "sim/study/executor/mpi_executor.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/study_executor/door.hpp"

namespace inferometer {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongEnough{60'000};

struct PostOffice {
  std::mutex mutex{};
  std::vector<std::deque<RankMail::Letter>> boxes;
  std::map<int, int> sent{};  // letters by rank
};

class MemoryMail final : public RankMail {
 public:
  MemoryMail(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(office_.boxes.size()); }
  void send(int to, std::string letter) override {
    const std::lock_guard lock(office_.mutex);
    office_.boxes.at(static_cast<std::size_t>(to)).push_back({rank_, std::move(letter)});
    ++office_.sent[rank_];
  }
  std::optional<Letter> receive() override {
    const std::lock_guard lock(office_.mutex);
    auto& box = office_.boxes.at(static_cast<std::size_t>(rank_));
    if (box.empty()) {
      return std::nullopt;
    }
    Letter letter = std::move(box.front());
    box.pop_front();
    return letter;
  }

 private:
  PostOffice& office_;
  int rank_;
};

/// Ranks with so many workers each; those but 0 answer until the object goes.
class Job {
 public:
  Job(const std::vector<int>& jobs, const Evaluator& evaluate, const std::vector<std::string>& fingerprints)
      : office_{.boxes = std::vector<std::deque<RankMail::Letter>>(jobs.size())} {
    // All processes are there before there are threads.
    for (const int of_rank : jobs) {
      own_.push_back(std::make_unique<LocalExecutor>(of_rank, evaluate));
    }
    for (std::size_t rank = 1; rank < jobs.size(); ++rank) {
      ranks_.emplace_back([this, rank, fingerprint = fingerprints.at(rank)] {
        MemoryMail mail(office_, static_cast<int>(rank));
        answer_questions(mail, *own_[rank], fingerprint);
      });
    }
  }
  ~Job() {
    for (std::thread& rank : ranks_) {
      rank.join();
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  MemoryMail& mail() { return mail_; }
  LocalExecutor& own() { return *own_[0]; }
  [[nodiscard]] std::map<int, int> sent() {
    const std::lock_guard lock(office_.mutex);
    return office_.sent;
  }

 private:
  PostOffice office_;
  MemoryMail mail_{office_, 0};
  std::vector<std::unique_ptr<LocalExecutor>> own_;
  std::vector<std::thread> ranks_;
};

std::string evaluate(const std::string& question) {
  if (question == "kill") {
    raise(SIGKILL);
  }
  if (question == "sleep") {
    std::this_thread::sleep_for(milliseconds(20));
  }
  return question + question;
}

TEST_CASE("all ranks answer and the failures of any come through", "[mpi_executor]") {
  Job job({1, 2, 1}, evaluate, {"same", "same", "same"});
  MpiExecutor executor(job.mail(), job.own(), "same");
  CHECK(executor.slots() == 4);
  std::map<std::int64_t, std::string> questions;
  for (std::int64_t ticket = 0; ticket < 80; ++ticket) {
    questions[ticket] = ticket % 20 == 7 ? "kill" : ticket % 20 == 9 ? std::string(400'000, 'x') : "sleep";
    executor.submit(ticket, questions[ticket]);
  }
  for (std::size_t count = 0; count < 80; ++count) {
    const auto answer = executor.wait(kLongEnough);
    REQUIRE(answer);
    const std::string question = questions.at(answer->ticket);
    questions.erase(answer->ticket);
    if (question == "kill") {
      CHECK(answer->failure == "the process that worked on it was killed (signal 9, SIGKILL)");
    } else {
      CHECK(answer->failure.empty());
      CHECK((answer->text == question + question));
    }
  }
  CHECK_FALSE(executor.wait(milliseconds(5)));
  // A hello, and a share of the answers.
  CHECK(job.sent().at(1) > 10);
  CHECK(job.sent().at(2) > 5);
}

TEST_CASE("few questions are spread over the ranks", "[mpi_executor]") {
  Job job({2, 2, 2}, evaluate, {"", "", ""});
  MpiExecutor executor(job.mail(), job.own(), "");
  for (std::int64_t ticket = 0; ticket < 3; ++ticket) {
    executor.submit(ticket, "sleep");
  }
  for (int count = 0; count < 3; ++count) {
    REQUIRE(executor.wait(kLongEnough));
  }
  // A hello and an answer each.
  CHECK(job.sent().at(1) == 2);
  CHECK(job.sent().at(2) == 2);
}

TEST_CASE("a rank that is at a long question keeps one more from the others", "[mpi_executor]") {
  const test::Door door;
  Job job({1, 1}, door.evaluator(), {"", ""});
  MpiExecutor executor(job.mail(), job.own(), "");
  for (std::int64_t ticket = 0; ticket < 10; ++ticket) {
    executor.submit(ticket, ticket == 0 ? "door" : "other");
  }
  int answered = 0;
  while (answered < 8 && executor.wait(milliseconds(10'000))) {
    ++answered;
  }
  CHECK(answered == 8);
  CHECK_FALSE(executor.wait(milliseconds(20)));
  door.open();
  CHECK(executor.wait(kLongEnough));
  CHECK(executor.wait(kLongEnough));
}

TEST_CASE("a rank that was started otherwise is named and all ranks end", "[mpi_executor]") {
  Job job({1, 1, 1, 1}, evaluate, {"0.1.0 a", "0.1.0 a", "0.1.0 b", "0.1.0 b"});
  try {
    MpiExecutor executor(job.mail(), job.own(), "0.1.0 a");
    FAIL("it was taken");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"rank 2 of the MPI job was started otherwise than rank 0", "by one command"});
  }
}

TEST_CASE("ranks end while they work and while letters are under way", "[mpi_executor]") {
  Job job({1, 2, 2}, evaluate, {"", "", ""});
  MpiExecutor executor(job.mail(), job.own(), "");
  for (std::int64_t ticket = 0; ticket < 50; ++ticket) {
    executor.submit(ticket, "sleep");
  }
  REQUIRE(executor.wait(kLongEnough));
}

TEST_CASE("a rank whose processes are gone is given no more", "[mpi_executor]") {
  Job job({1, 1}, evaluate, {"", ""});
  MpiExecutor executor(job.mail(), job.own(), "");
  std::vector<pid_t> keepers;
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t child = 0; children >> child;) {
    keepers.push_back(child);
  }
  REQUIRE(keepers.size() == 2);
  kill(keepers[1], SIGKILL);
  while (job.sent().at(1) < 2) {  // a hello, and that its slot is gone
    std::this_thread::sleep_for(milliseconds(1));
  }
  for (std::int64_t ticket = 0; ticket < 20; ++ticket) {
    executor.submit(ticket, "q");
    const auto answer = executor.wait(kLongEnough);
    REQUIRE(answer);
    CHECK(answer->text == "qq");
  }
  kill(keepers[0], SIGKILL);
  CHECK_FALSE(executor.wait(milliseconds(100)));
  executor.submit(21, "q");
  CHECK(executor.wait(kLongEnough)->failure ==
        "no process is left to work on it; all were ended from outside");
}

TEST_CASE("pauses grow up to a limit and begin anew", "[mpi_executor]") {
  Pause pause;
  for (const int expected : {200, 400, 800, 1600, 2000, 2000}) {
    CHECK(pause.next().count() == expected);
  }
  pause.reset();
  CHECK(pause.next().count() == 200);
}

}  // namespace
}  // namespace inferometer
