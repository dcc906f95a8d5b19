#pragma once

#include <cstdint>
#include <string>

namespace inferometer {

/// What a file contained, told by its digest.
struct FileHash {
  std::string hash;  ///< "sha256:" and 64 hexadecimal digits
  std::int64_t bytes = 0;
};

/// Reads the whole file in pieces. Throws ConfigError when it cannot be read.
FileHash hash_file(const std::string& path);

}  // namespace inferometer
