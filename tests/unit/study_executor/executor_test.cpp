#include "sim/study/executor/executor.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "sim/study/executor/own_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/study_executor/door.hpp"

namespace inferometer {
namespace {

using std::chrono::milliseconds;
using test::Door;

constexpr milliseconds kLongEnough{60'000};
const std::string kKilled = "the process that worked on it was killed (signal 9, SIGKILL)";

Evaluator reversing() {
  return [](const std::string& question) { return std::string(question.rbegin(), question.rend()); };
}

std::map<std::int64_t, Answer> all_answers(Executor& executor, std::size_t count) {
  std::map<std::int64_t, Answer> answers;
  while (answers.size() < count) {
    const auto answer = executor.wait(kLongEnough);
    REQUIRE(answer);
    REQUIRE(answers.emplace(answer->ticket, *answer).second);
  }
  return answers;
}

/// What becomes of questions asked at once, by ticket 0, 1, ...
std::map<std::int64_t, Answer> ask(int jobs, const Evaluator& evaluate,
                                   const std::vector<std::string>& questions) {
  std::map<std::int64_t, Answer> answers;
  with_executor({jobs, ""}, evaluate, [&](Executor& executor) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      executor.submit(static_cast<std::int64_t>(i), questions[i]);
    }
    answers = all_answers(executor, questions.size());
  });
  return answers;
}

/// Processes that a process has started, in that order.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::ifstream list("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t child = 0; list >> child;) {
    children.push_back(child);
  }
  return children;
}

/// Whether it has ended and its parent has not asked how.
bool is_zombie(pid_t process) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
  return stat.find(") Z ") != std::string::npos;
}

/// Does what a question says.
std::string obey(const std::string& question) {
  if (question == "abort") {
    std::signal(SIGABRT, SIG_DFL);  // Catch2 would report it
    std::abort();
  }
  if (question == "kill") {
    raise(SIGKILL);
  }
  if (question == "exit") {
    std::exit(3);
  }
  if (question == "throw") {
    throw std::invalid_argument("no such road");
  }
  return "did " + question;
}

TEST_CASE("any number of workers gives the same answers", "[executor]") {
  std::vector<std::string> questions;
  for (int i = 0; i < 60; ++i) {
    // Some longer than a socket holds, both ways, and several of them in a row: a question must not wait for
    // room that an answer takes which waits for it to be sent.
    const bool is_long = i % 13 == 5 || (i >= 20 && i < 26);
    questions.push_back("q" + std::to_string(i) + std::string(is_long ? 400'000 : 0, 'x'));
  }
  for (int jobs = 1; jobs <= 8; ++jobs) {
    const auto answers = ask(jobs, reversing(), questions);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Answer& answer = answers.at(static_cast<std::int64_t>(i));
      CHECK(answer.failure.empty());
      CHECK((answer.text == std::string(questions[i].rbegin(), questions[i].rend())));
    }
  }
}

TEST_CASE("answers come as they are ready", "[executor]") {
  const Door door;
  with_executor({2, ""}, door.evaluator(), [&](Executor& executor) {
    CHECK(executor.slots() == 2);
    executor.submit(10, "door");
    executor.submit(20, "other");
    CHECK(executor.wait(kLongEnough)->ticket == 20);
    CHECK_FALSE(executor.wait(milliseconds(0)));
    CHECK_FALSE(executor.wait(milliseconds(20)));
    door.open();
    CHECK(executor.wait(kLongEnough)->ticket == 10);
    CHECK_FALSE(executor.wait(milliseconds(0)));
  });
}

TEST_CASE("a long line is in hands and the end of it waits for whoever is ready", "[executor]") {
  const Door door;
  with_executor({2, ""}, door.evaluator(), [&](Executor& executor) {
    // Two to work on and no more in line than slots: nothing waits behind the first one.
    for (std::int64_t ticket = 0; ticket < 4; ++ticket) {
      executor.submit(ticket, ticket == 0 ? "door" : "other");
    }
    for (const std::int64_t ticket : {1, 2, 3}) {
      CHECK(executor.wait(kLongEnough)->ticket == ticket);
    }
    // One more in line than slots: the first takes question 5 in hand.
    for (std::int64_t ticket = 4; ticket < 8; ++ticket) {
      executor.submit(ticket, "other");
    }
    for (const std::int64_t ticket : {4, 6, 7}) {
      CHECK(executor.wait(kLongEnough)->ticket == ticket);
    }
    CHECK_FALSE(executor.wait(milliseconds(0)));
    door.open();
    CHECK(executor.wait(kLongEnough)->ticket == 0);
    CHECK(executor.wait(kLongEnough)->ticket == 5);
  });
}

TEST_CASE("a process that dies fails its question and no other", "[executor]") {
  for (const int jobs : {1, 3}) {
    const auto answers = ask(jobs, obey, {"a", "abort", "b", "kill", "kill", "exit", "c", "throw", "d"});
    CHECK(answers.at(1).failure == "the process that worked on it was killed (signal 6, SIGABRT)");
    CHECK(answers.at(3).failure == kKilled);
    CHECK(answers.at(4).failure == kKilled);
    CHECK(answers.at(5).failure == "the process that worked on it ended (exit code 3)");
    CHECK(answers.at(7).failure == "no such road");
    for (const auto& [ticket, question] : {std::pair(0, "a"), {2, "b"}, {6, "c"}, {8, "d"}}) {
      CHECK(answers.at(ticket).failure.empty());
      CHECK(answers.at(ticket).text == "did " + std::string(question));
    }
  }
}

TEST_CASE("a worker keeps what it has and a new one begins like the first", "[executor]") {
  int asked = 0;
  const Evaluator counting = [&](const std::string& question) {
    return question == "kill" ? obey(question) : std::to_string(++asked);
  };
  const auto answers = ask(1, counting, {"", "", "kill", ""});
  CHECK(answers.at(1).text == "2");
  CHECK(answers.at(3).text == "1");
  CHECK(asked == 0);
}

TEST_CASE("a worker that is killed while it has nothing to do fails nothing", "[executor]") {
  with_executor({1, ""}, obey, [&](Executor& executor) {
    executor.submit(1, "a");
    CHECK(executor.wait(kLongEnough)->failure.empty());
    const pid_t keeper = children_of(getpid()).at(0);
    const pid_t worker = children_of(keeper).at(0);
    kill(worker, SIGKILL);
    while (!is_zombie(worker)) {
    }
    executor.submit(2, "b");
    CHECK(executor.wait(kLongEnough)->text == "did b");
  });
}

TEST_CASE("a slot whose keeper is ended is gone and the others go on", "[executor]") {
  const Door door;
  with_executor({2, ""}, door.evaluator(), [&](Executor& executor) {
    for (std::int64_t ticket = 0; ticket < 6; ++ticket) {
      executor.submit(ticket, ticket < 2 ? "door" : "other");
    }
    CHECK_FALSE(executor.wait(milliseconds(0)));
    const std::vector<pid_t> keepers = children_of(getpid());
    kill(keepers.at(0), SIGKILL);
    const auto failed = executor.wait(kLongEnough);
    CHECK(failed->ticket == 0);
    CHECK(failed->failure == kKilled);
    // The first process had question 2 in hand, which goes back to the beginning of the line; the second
    // one 3.
    door.open();
    for (const std::int64_t ticket : {1, 3, 2, 4, 5}) {
      const auto answer = executor.wait(kLongEnough);
      CHECK(answer->ticket == ticket);
      CHECK(answer->failure.empty());
    }
    kill(keepers.at(1), SIGKILL);
    CHECK_FALSE(executor.wait(milliseconds(100)));
    executor.submit(6, "other");
    CHECK(executor.wait(kLongEnough)->failure ==
          "no process is left to work on it; all were ended from outside");
  });
}

TEST_CASE("whatever workers are at they end with the executor and are no zombies", "[executor]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("process");
  const Evaluator forever = [&](const std::string&) {
    return in_own_process([&]() -> std::string {
      std::ofstream(path) << getpid() << std::endl;
      for (;;) {
        pause();
      }
    });
  };
  pid_t innermost = 0;
  const auto lead = [&](Executor& executor) {
    executor.submit(1, "");
    while (!(std::ifstream(path) >> innermost)) {
      CHECK_FALSE(executor.wait(milliseconds(1)));
    }
    CHECK(children_of(getpid()).size() == 3);
    CHECK(kill(innermost, 0) == 0);
    throw std::runtime_error("enough");
  };
  CHECK_THROWS_WITH(with_executor({3, ""}, forever, lead), "enough");
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // nobody to wait for
  CHECK(kill(innermost, 0) == -1);             // nor is there one for others to wait for
}

TEST_CASE("processes of an executor have no open files of others", "[executor]") {
  const int file = open("/dev/null", O_RDONLY);
  const Evaluator open_files = [](const std::string&) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      count += std::stoi(entry.path().filename()) > STDERR_FILENO ? 1 : 0;
    }
    return std::to_string(count);
  };
  // A worker's socket, and the directory that is being listed.
  for (const auto& [ticket, answer] : ask(4, open_files, {"", "", "", "", "", "", "", ""})) {
    CHECK(answer.text == "2");
  }
  close(file);
}

TEST_CASE("processes that cannot be started are an error", "[executor]") {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  constexpr rlim_t kFew = 16;
  const rlimit limit{kFew, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &limit);
  std::string says;
  try {
    ask(40, obey, {});
  } catch (const ConfigError& error) {
    says = error.what();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  check_says(says, {"cannot start 40 worker processes", "Too many open files"});
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("Ctrl-C does not reach workers", "[executor]") {
  const Evaluator interrupted = [](const std::string&) {
    raise(SIGINT);
    return in_own_process([] {
      raise(SIGINT);
      return std::string("went on");
    });
  };
  CHECK(ask(1, interrupted, {""}).at(0).text == "went on");
}

TEST_CASE("a signal ends a wait early", "[executor]") {
  const auto handler = std::signal(SIGALRM, [](int) {});
  const Door closed;
  with_executor({1, ""}, closed.evaluator(), [&](Executor& executor) {
    executor.submit(1, "door");
    CHECK_FALSE(executor.wait(milliseconds(0)));
    // Again and again, as the first may come before the wait.
    constexpr itimerval kEvery20Ms{{0, 20'000}, {0, 20'000}};
    constexpr itimerval kNever{};
    setitimer(ITIMER_REAL, &kEvery20Ms, nullptr);
    CHECK_FALSE(executor.wait(kLongEnough));
    setitimer(ITIMER_REAL, &kNever, nullptr);
  });
  std::signal(SIGALRM, handler);
}

TEST_CASE("what launchers put into the environment tells of an MPI job", "[executor]") {
  const auto is_job_with = [](const std::map<std::string, std::string>& variables) {
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_RANK",
                                   "PMI_RANK", "SLURM_STEP_NUM_TASKS"}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    const bool is_job = is_mpi_job();
    for (const auto& [name, value] : variables) {
      unsetenv(name.c_str());
    }
    return is_job;
  };
  CHECK_FALSE(is_job_with({}));
  CHECK(is_job_with({{"OMPI_COMM_WORLD_SIZE", "2"}}));
  CHECK_FALSE(is_job_with({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}));
  CHECK(is_job_with({{"PMI_SIZE", "16"}, {"PMI_RANK", "3"}}));
  CHECK(is_job_with({{"PMIX_RANK", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}}));
  CHECK_FALSE(
      is_job_with({{"SLURM_STEP_NUM_TASKS", "4"}}));  // several programs that know nothing of each other
  CHECK_FALSE(is_job_with({{"PMI_SIZE", "many"}}));
}

}  // namespace
}  // namespace inferometer
