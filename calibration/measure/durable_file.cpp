#include "calibration/measure/durable_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr mode_t kReadByAll = 0644;

[[noreturn]] void fail(const std::string& path, std::string_view what, int error) {
  throw ConfigError(Position{path, 0, 0}, std::string(what) + ": " + std::generic_category().message(error));
}

/// A descriptor that is closed with this object.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, std::string_view what)
      : file_(open(path.c_str(), flags | O_CLOEXEC, kReadByAll)) {
    if (file_ < 0) {
      fail(path, what, errno);
    }
  }
  ~Descriptor() {
    if (file_ >= 0) {
      close(file_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return file_; }
  int release() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// A name is on the disk only when its directory is.
void sync_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const Descriptor directory(parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY, "cannot open");
  // Some network file systems do not sync directories, and need not.
  if (fsync(directory.number()) != 0 && errno != EINVAL) {
    fail(parent.string(), "cannot write to disk", errno);
  }
}

void write_all(const std::string& path, int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail(path, "cannot write all of it", errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_file(const std::string& path, int file) {
  if (fdatasync(file) != 0) {
    fail(path, "cannot write to disk", errno);
  }
}

std::string replacement_of(const std::string& path) {
  return path + ".tmp";
}

}  // namespace

AppendedFile::AppendedFile(std::string path) : path_(std::move(path)) {
  std::error_code unknown;
  const bool is_new = !std::filesystem::exists(path_, unknown);
  Descriptor file(path_, O_WRONLY | O_APPEND | O_CREAT, "cannot write");
  if (is_new) {
    sync_directory_of(path_);
  }
  file_ = file.release();
  synced_ = std::chrono::steady_clock::now();
}

AppendedFile::~AppendedFile() {
  static_cast<void>(fdatasync(file_));  // a destructor has nobody to tell
  close(file_);
}

void AppendedFile::append(std::string_view text) {
  constexpr std::chrono::seconds kBetweenSyncs{1};
  write_all(path_, file_, text);
  const auto now = std::chrono::steady_clock::now();
  if (now - synced_ >= kBetweenSyncs) {
    sync_file(path_, file_);
    synced_ = now;
  }
}

void cut_file(const std::string& path, std::uint64_t bytes) {
  const Descriptor file(path, O_WRONLY, "cannot write");
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0 || fdatasync(file.number()) != 0) {
    fail(path, "cannot be cut off", errno);
  }
}

void replace_file(const std::string& path, std::string_view text) {
  const std::string beside = replacement_of(path);
  {
    const Descriptor file(beside, O_WRONLY | O_CREAT | O_TRUNC, "cannot write");
    write_all(beside, file.number(), text);
    sync_file(beside, file.number());
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    fail(path, "cannot put it in its place", errno);
  }
  sync_directory_of(path);
}

void discard_replacement(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(replacement_of(path), ignored);
}

std::string file_bytes(const std::string& path) {
  const Descriptor file(path, O_RDONLY, "cannot be read");
  std::string bytes;
  std::array<char, 1 << 16> part;
  for (;;) {
    const ssize_t got = read(file.number(), part.data(), part.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(path, "cannot be read", errno);
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace inferometer
