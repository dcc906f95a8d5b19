#include "base/data_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "tests/support/catch.hpp"

using inferometer::data_directory;

namespace {

/// Sets INFEROMETER_DATA_DIR for the length of a test.
class ChosenDataDirectory {
 public:
  explicit ChosenDataDirectory(const std::filesystem::path& path) {
    ::setenv("INFEROMETER_DATA_DIR", path.c_str(), 1);
  }
  ~ChosenDataDirectory() { ::unsetenv("INFEROMETER_DATA_DIR"); }
  ChosenDataDirectory(const ChosenDataDirectory&) = delete;
  ChosenDataDirectory& operator=(const ChosenDataDirectory&) = delete;
};

}  // namespace

TEST_CASE("shipped data comes from the source tree") {
  REQUIRE(data_directory("hardware/gpus") == std::filesystem::path(INFEROMETER_SOURCE_DIR) / "hardware/gpus");
}

TEST_CASE("INFEROMETER_DATA_DIR goes first, and what it lacks comes from the source tree") {
  const std::filesystem::path chosen = std::filesystem::current_path() / "chosen_data";
  std::filesystem::create_directories(chosen / "hardware" / "gpus");
  const ChosenDataDirectory environment(chosen);
  REQUIRE(data_directory("hardware/gpus") == chosen / "hardware/gpus");
  REQUIRE(data_directory("scenarios") == std::filesystem::path(INFEROMETER_SOURCE_DIR) / "scenarios");
}

TEST_CASE("a folder that is nowhere is reported with the places tried") {
  const std::filesystem::path chosen = std::filesystem::current_path() / "chosen_data";
  std::filesystem::create_directories(chosen);
  const ChosenDataDirectory environment(chosen);
  try {
    data_directory("hardware/abaci");
    FAIL("no error");
  } catch (const inferometer::ConfigError& error) {
    const std::string message = error.what();
    INFO(message);
    REQUIRE(message.find("\"hardware/abaci\" not found") != std::string::npos);
    REQUIRE(message.find((chosen / "hardware/abaci").string() + ", " INFEROMETER_SOURCE_DIR) !=
            std::string::npos);
  }
}

TEST_CASE("a folder chosen that is not there is not passed over in silence") {
  const ChosenDataDirectory environment("/nowhere/at/all");
  REQUIRE_THROWS_WITH(data_directory("hardware/gpus"),
                      "INFEROMETER_DATA_DIR: \"/nowhere/at/all\" is not a folder");
}
