#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace inferometer {

/// A file that appears whole or not at all: it is written beside its place and renamed by commit(). Without
/// commit(), nothing is left behind and a file that was there before stays.
class AtomicFile {
 public:
  /// Throws ConfigError when no file can be made in that directory.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// As to stream(), but says what the system says when it cannot. Throws ConfigError.
  void write(std::string_view contents);
  /// Throws ConfigError when not everything could be written, or the target is a directory. Call once.
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path target_;
  std::filesystem::path beside_;
  std::ofstream stream_;
  bool is_done_ = false;
};

/// Writes a whole file at once, as AtomicFile does.
void write_file(const std::filesystem::path& target, std::string_view contents);

/// Makes a directory to write to, and those above it; one that is there is left as it is. Throws ConfigError.
void make_directory(const std::string& directory);

}  // namespace inferometer
