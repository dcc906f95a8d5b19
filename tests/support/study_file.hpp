#pragma once

// The studies of scenarios/, one run at a time: for tests of what they are to teach.

#include <cstdint>
#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer::testing {

class StudyFile {
 public:
  /// Reads scenarios/`name`, whose base stands in it. Throws ConfigError.
  explicit StudyFile(const std::string& name);

  /// What `inferometer compare` runs for the variant of that name, with `changes` laid over it as `--set`
  /// does. Throws std::runtime_error when there is no such variant.
  [[nodiscard]] Scenario scenario(const std::string& variant, const std::vector<std::string>& changes = {},
                                  std::int64_t seed = 1) const;
  /// The same, run to its end. Throws std::runtime_error when a request was not served.
  [[nodiscard]] ScenarioRun run(const std::string& variant, const std::vector<std::string>& changes = {},
                                std::int64_t seed = 1) const;

 private:
  [[nodiscard]] const ConfigNode& part(const ConfigNode& map, const std::string& key) const;

  std::string path_;
  ConfigNode tree_;
};

}  // namespace inferometer::testing
