#include "calibration/measure/directory_lock.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr mode_t kReadByAll = 0644;

/// False when whoever held the lock before has removed the file meanwhile.
bool is_still_at(const std::string& path, int file) {
  struct stat of_file = {}, of_path = {};
  return fstat(file, &of_file) == 0 && stat(path.c_str(), &of_path) == 0 &&
         of_file.st_ino == of_path.st_ino && of_file.st_dev == of_path.st_dev;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& directory) : path_(directory + "/.lock") {
  do {
    if (file_ >= 0) {
      close(file_);
    }
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kReadByAll);
    if (file_ < 0) {
      throw ConfigError(Position{path_, 0, 0}, "cannot be made: " + std::generic_category().message(errno));
    }
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(file_);
      throw ConfigError(Position{directory, 0, 0},
                        error == EWOULDBLOCK
                            ? "another run is writing to this folder; let it end, or write to another folder"
                            : "cannot be locked: " + std::generic_category().message(error));
    }
  } while (!is_still_at(path_, file_));
}

DirectoryLock::~DirectoryLock() {
  unlink(path_.c_str());
  close(file_);
}

}  // namespace inferometer
