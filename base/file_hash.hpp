#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inferometer {

/// What a file contained, told by its digest.
struct FileHash {
  std::string hash;  ///< "sha256:" and 64 hexadecimal digits
  std::int64_t bytes = 0;
};

/// Reads the whole file in pieces. Throws ConfigError when it cannot be read.
FileHash hash_file(const std::string& path);

/// The digest of bytes in memory, in the same form.
std::string hash_text(std::string_view bytes);

}  // namespace inferometer
