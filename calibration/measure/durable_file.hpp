#pragma once

// Files that keep what was written to them when the machine goes down. Who uses it: record_journal.hpp.
// Every function throws ConfigError, naming the file and what the system says.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace inferometer {

/// A file that only grows, made when it is not there. Each text goes there by one write, so that a kill
/// leaves at most one text unfinished, the last; what is older than a second is on the disk at the next
/// append(), all of it at the end: a machine that goes down takes no more than the last second's texts with
/// it.
class AppendedFile {
 public:
  explicit AppendedFile(std::string path);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  void append(std::string_view text);

 private:
  std::string path_;
  int file_ = -1;
  std::chrono::steady_clock::time_point synced_;
};

/// Cuts a file off behind its first `bytes`.
void cut_file(const std::string& path, std::uint64_t bytes);

/// The file becomes `text`; whatever happens, it holds all of the old or all of the new.
void replace_file(const std::string& path, std::string_view text);
/// Removes what a replace_file() that was killed has left beside the file.
void discard_replacement(const std::string& path);

/// All bytes of a file.
std::string file_bytes(const std::string& path);

}  // namespace inferometer
