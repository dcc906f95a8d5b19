#include "base/config/path_text.hpp"

#include <filesystem>

namespace inferometer {

std::string directory_of(const Values& section, const std::string& key) {
  const std::string& file = section.where(key).file;
  return file.starts_with("--set") ? "" : std::filesystem::path(file).parent_path().string();
}

std::string path_or_name(const Values& section, const std::string& key) {
  const std::string& name = section.text(key);
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json") ||
                       name.ends_with(".yaml") || name.ends_with(".yml");
  return is_path ? (std::filesystem::path(directory_of(section, key)) / name).lexically_normal().string()
                 : name;
}

}  // namespace inferometer
