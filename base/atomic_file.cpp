#include "base/atomic_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kNotAll = "cannot write all of it";

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)), beside_(target_) {
  // The process id keeps two runs that write to one place out of each other's way.
  beside_ += fmt::format(".{}.tmp", getpid());
  // Renaming over a device or a pipe would put a file in its place, for all who use it.
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(target_, unknown);
  if (std::filesystem::is_other(status)) {
    throw ConfigError({target_.string(), 0, 0}, "is not a regular file (a pipe or a device)");
  }
  errno = 0;
  stream_.open(beside_, std::ios::binary | std::ios::trunc);
  if (!stream_) {
    fail("cannot write", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (!is_done_) {
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(beside_, ignored);
  }
}

void AtomicFile::write(std::string_view contents) {
  errno = 0;
  stream_.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  stream_.flush();
  if (!stream_) {
    fail(kNotAll, errno);
  }
}

void AtomicFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) {
    fail(kNotAll, errno);
  }
  std::error_code error;
  std::filesystem::rename(beside_, target_, error);
  if (error) {
    fail("cannot put it in its place", error.value());
  }
  is_done_ = true;
}

void AtomicFile::fail(std::string_view what, int error) const {
  const std::string why = error == 0 ? "unknown reason" : std::generic_category().message(error);
  throw ConfigError({target_.string(), 0, 0}, fmt::format("{}: {}", what, why));
}

void write_file(const std::filesystem::path& target, std::string_view contents) {
  AtomicFile file(target);
  file.write(contents);
  file.commit();
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw ConfigError(Position{directory, 0, 0}, "cannot be made a directory: " + error.message());
  }
}

}  // namespace inferometer
