#include "tests/support/study_file.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace inferometer::testing {

StudyFile::StudyFile(const std::string& name)
    : path_(INFEROMETER_SOURCE_DIR "/scenarios/" + name), tree_(read_yaml_file(path_)) {
}

const ConfigNode& StudyFile::part(const ConfigNode& map, const std::string& key) const {
  const ConfigNode* found = map.find(key);
  if (found == nullptr) {
    throw std::runtime_error(fmt::format("{}: there is no \"{}\"", path_, key));
  }
  return *found;
}

Scenario StudyFile::scenario(const std::string& variant, const std::vector<std::string>& changes,
                             std::int64_t seed) const {
  ScenarioOverrides overrides;
  overrides.layers = {{"variant " + variant, opened_paths(part(part(tree_, "variants"), variant))}};
  overrides.assignments = changes;
  overrides.seed = seed;
  return load_scenario_tree(part(tree_, "base"), path_, overrides);
}

ScenarioRun StudyFile::run(const std::string& variant, const std::vector<std::string>& changes,
                           std::int64_t seed) const {
  ScenarioRun result = run_scenario(scenario(variant, changes, seed));
  const Census& census = result.summary.census;
  if (census.completed != census.injected) {
    throw std::runtime_error(
        fmt::format("{}: {} of {} requests were served", variant, census.completed, census.injected));
  }
  return result;
}

}  // namespace inferometer::testing
