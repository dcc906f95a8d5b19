#pragma once

#include <cstddef>
#include <string>

namespace inferometer {

/// The bytes of a regular file: all of them, or somewhat more than `most_bytes` when there are more, so that
/// the caller can tell. Throws ConfigError for what is missing, a directory, a pipe or a device, or
/// unreadable.
std::string read_regular_file(const std::string& path, std::size_t most_bytes);

}  // namespace inferometer
