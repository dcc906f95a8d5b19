#pragma once

#include <string>

namespace inferometer {

/// Holds a directory against other runs, in this process or another, that hold it in the same way: by flock()
/// on a file ".lock" in it, which the kernel lets go when a process dies. The file is gone with this object.
class DirectoryLock {
 public:
  /// Throws ConfigError when another run holds it, or no file can be made in it.
  explicit DirectoryLock(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace inferometer
