#include "sim/study/executor/own_process.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// What it fails with.
std::string failure_of(const std::function<std::string()>& work) {
  try {
    in_own_process(work);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it did not fail";
}

TEST_CASE("work in a process of its own returns its answer and changes nothing here", "[own_process]") {
  int changed = 0;
  const pid_t here = getpid();
  const std::string answer = in_own_process([&] {
    changed = 1;
    return std::string(2'000'000, getpid() == here ? 'h' : 'o');
  });
  CHECK(answer == std::string(2'000'000, 'o'));
  CHECK(changed == 0);
  CHECK(in_own_process([] { return std::string(); }).empty());
}

TEST_CASE("how a process of its own ended is what is said", "[own_process]") {
  CHECK(failure_of([]() -> std::string { throw std::invalid_argument("no such road"); }) == "no such road");
  CHECK(failure_of([]() -> std::string { throw 7; }) == "what was thrown is no exception");
  CHECK(failure_of([]() -> std::string { throw std::runtime_error(""); }) == "it failed and did not say why");
  CHECK(failure_of([]() -> std::string { _exit(3); }) == "the process that worked on it ended (exit code 3)");
  CHECK(failure_of([]() -> std::string { _exit(0); }) == "the process that worked on it ended (exit code 0)");
  CHECK(failure_of([]() -> std::string {
          raise(SIGKILL);
          return "";
        }) == "the process that worked on it was killed (signal 9, SIGKILL)");
  CHECK(failure_of([]() -> std::string {
          std::signal(SIGABRT, SIG_DFL);  // Catch2 would report it
          std::abort();
        }) == "the process that worked on it was killed (signal 6, SIGABRT)");
}

TEST_CASE("processes of their own nest and leave none behind", "[own_process]") {
  const std::string answer =
      in_own_process([] { return "outer " + in_own_process([] { return std::string("inner"); }); });
  CHECK(answer == "outer inner");
  failure_of([]() -> std::string { _exit(3); });
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // nobody to wait for
}

}  // namespace
}  // namespace inferometer
