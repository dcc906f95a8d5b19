#pragma once

// A part of a test in a process of its own: for what may be done once in a process, or ends it.

#include <array>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::testing {

struct ChildOutcome {
  bool ended_well = false;
  std::vector<double> numbers;  ///< what the work returned; none when it did not end well
  std::string stderr_text;
};

inline ChildOutcome run_in_child(const std::function<std::vector<double>()>& work) {
  const test::TemporaryDirectory directory;
  const std::string stderr_path = directory.file("stderr");
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Those of the test framework would tell of the child's end as of the test's.
    for (const int signal : {SIGABRT, SIGSEGV, SIGTERM}) {
      std::signal(signal, SIG_DFL);
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const bool redirected = dup2(open(stderr_path.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO) >= 0;
    const std::vector<double> numbers = work();
    const auto bytes = static_cast<ssize_t>(numbers.size() * sizeof(double));
    const bool written = write(pipe_ends[1], numbers.data(), static_cast<std::size_t>(bytes)) == bytes;
    // Past exit handlers and the destructors of the test program, which are the parent's.
    _exit(redirected && written ? 0 : 1);
  }
  close(pipe_ends[1]);
  ChildOutcome outcome;
  double number = 0;
  while (read(pipe_ends[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number)) {
    outcome.numbers.push_back(number);
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::ifstream text(stderr_path);
  outcome.stderr_text = {std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()};
  return outcome;
}

}  // namespace inferometer::testing
