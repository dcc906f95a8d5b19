#include "base/data_path.hpp"

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"

namespace inferometer {
namespace {

std::vector<std::filesystem::path> data_roots() {
  std::vector<std::filesystem::path> roots;
  if (const char* chosen = std::getenv("INFEROMETER_DATA_DIR"); chosen != nullptr && *chosen != '\0') {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(chosen, unreadable)) {
      throw ConfigError(Position{"INFEROMETER_DATA_DIR"}, "\"" + std::string(chosen) + "\" is not a folder");
    }
    roots.emplace_back(chosen);
  }
  roots.emplace_back(INFEROMETER_SOURCE_DATA_DIR);
  roots.emplace_back(INFEROMETER_INSTALLED_DATA_DIR);
  std::error_code unreadable;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) {
    roots.push_back(program.parent_path().parent_path() / "share" / "inferometer");
  }
  return roots;
}

}  // namespace

std::filesystem::path data_directory(std::string_view folder) {
  std::string tried;
  for (const std::filesystem::path& root : data_roots()) {
    std::filesystem::path candidate = root / folder;
    std::error_code unreadable;
    if (std::filesystem::is_directory(candidate, unreadable)) {
      return candidate;
    }
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  throw ConfigError(Position{}, "shipped data \"" + std::string(folder) + "\" not found; looked for " +
                                    tried + "; set INFEROMETER_DATA_DIR to the folder that holds it");
}

}  // namespace inferometer
