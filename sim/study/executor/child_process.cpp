#include "sim/study/executor/child_process.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace inferometer {
namespace {

[[noreturn]] void fail(std::string_view what, int error) {
  throw std::system_error(error, std::generic_category(), std::string(what));
}

void close_all_but(int kept) {
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > STDERR_FILENO && number != kept) {
      open.push_back(number);
    }
  }
  for (const int number : open) {  // the one the directory was read by is closed by now, which does no harm
    close(number);
  }
}

[[noreturn]] void be_child(pid_t parent, int socket, const std::function<void(int)>& body) {
  constexpr int kFailed = 1;
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {  // it died before that was said
      _exit(kFailed);
    }
    std::signal(SIGINT, SIG_IGN);
    close_all_but(socket);
    body(socket);
  } catch (...) {
    _exit(kFailed);
  }
  // Not exit(): what is to be done at the end of the program is the parent's business.
  _exit(0);
}

}  // namespace

ChildProcess::ChildProcess(const std::function<void(int socket)>& body) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("no socket", errno);
  }
  // What is still to be written would be written twice if the child exits by itself.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    be_child(parent, ends[1], body);
  }
  const int error = errno;
  close(ends[1]);
  if (id_ < 0) {
    close(ends[0]);
    fail("no process", error);
  }
  socket_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (id_ < 0) {
    return;
  }
  kill();
  wait();
  close(socket_);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      id_(std::exchange(other.id_, -1)),
      is_over_(other.is_over_),
      status_(other.status_) {
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(id_, other.id_);
  std::swap(is_over_, other.is_over_);
  std::swap(status_, other.status_);
  return *this;
}

bool ChildProcess::is_running() {
  if (!is_over_) {
    is_over_ = waitpid(id_, &status_, WNOHANG) == id_;
  }
  return !is_over_;
}

std::string ChildProcess::end() {
  wait();
  if (WIFSIGNALED(status_)) {
    const int signal = WTERMSIG(status_);
    const char* const name = sigabbrev_np(signal);
    return name == nullptr
               ? fmt::format("the process that worked on it was killed (signal {})", signal)
               : fmt::format("the process that worked on it was killed (signal {}, SIG{})", signal, name);
  }
  return fmt::format("the process that worked on it ended (exit code {})", WEXITSTATUS(status_));
}

void ChildProcess::hang_up() {
  shutdown(socket_, SHUT_RDWR);
}

void ChildProcess::kill() {
  if (!is_over_) {
    ::kill(id_, SIGKILL);
  }
}

void ChildProcess::wait() {
  while (!is_over_) {
    is_over_ = waitpid(id_, &status_, 0) == id_ || errno == ECHILD;
  }
}

}  // namespace inferometer
