#pragma once

// A process that is a copy of this one, with a socket between the two.

#include <functional>
#include <string>

#include <sys/types.h>

namespace inferometer {

/// Runs a function in a process of its own, which ends when the function returns, when this object does, or
/// when the thread that made it does: a killed program leaves nothing behind.
class ChildProcess {
 public:
  /// `body` gets its end of the socket, which blocks, as the other one does. In its process all other open
  /// files above stderr are closed, so that nobody waits for the end of what it does not know it holds;
  /// Ctrl-C, which reaches everything a terminal started, is ignored; nothing of ours runs when it exits.
  /// Throws std::system_error when the system has no room for another process.
  explicit ChildProcess(const std::function<void(int socket)>& body);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;  // the other object gets what this one had

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] pid_t id() const { return id_; }

  /// Whether it has not ended yet.
  [[nodiscard]] bool is_running();
  /// Waits until it has ended, and says how: "the process that worked on it was killed (signal 9, SIGKILL)".
  std::string end();
  /// Closes this end of the socket to both sides: whoever reads or writes at the other one finds out.
  void hang_up();

 private:
  void kill();
  void wait();

  int socket_ = -1;
  pid_t id_ = -1;
  bool is_over_ = false;  // and its status fetched
  int status_ = 0;
};

}  // namespace inferometer
