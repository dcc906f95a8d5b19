#include "base/config/file_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"

namespace inferometer {

std::string read_regular_file(const std::string& path, std::size_t most_bytes) {
  const Position whole_file{path, 0, 0};
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw ConfigError(whole_file, "no such file");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    throw ConfigError(whole_file, "is a directory, not a file");
  }
  if (status.type() != std::filesystem::file_type::regular &&
      status.type() != std::filesystem::file_type::none) {
    throw ConfigError(whole_file, "is not a regular file (a pipe or a device)");
  }
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    throw ConfigError(whole_file,
                      errno == EACCES ? "cannot be opened: permission denied" : "cannot be opened");
  }
  std::string text(std::min<std::size_t>(most_bytes, 1u << 16), '\0');
  std::size_t length = 0;
  while (const std::size_t got = std::fread(text.data() + length, 1, text.size() - length, file.get())) {
    length += got;
    if (length > most_bytes) {
      break;
    }
    if (length == text.size()) {
      text.resize(std::min(text.size() * 2, most_bytes + 1));
    }
  }
  if (std::ferror(file.get()) != 0) {
    throw ConfigError(whole_file, "cannot be read");
  }
  text.resize(length);
  return text;
}

}  // namespace inferometer
